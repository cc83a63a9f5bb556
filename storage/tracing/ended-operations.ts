import type { LogLines } from '../log/log-lines.js';
import type { EndedOperation } from '../model/ended-operation.js';
import { recordOperation } from './operation-spans.js';
import type { Tracing } from './tracing.js';

/** Is called with each operation that has ended, once that is stored. */
export type OnOperationEnded = (operation: EndedOperation) => void;

/** Tells the log and the spans. */
export function operationEnds(lines: LogLines, tracing: Tracing | undefined): OnOperationEnded {
  return (operation) => {
    lines.operationEnded(operation);
    if (tracing) recordOperation(tracing, operation);
  };
}
