import { pino } from 'pino';
import type { EndedOperation } from '../model/ended-operation.js';
import { traceIdOf } from '../model/traceparent.js';
import type { Logger } from './log.js';

/** A request that was answered, or whose client went away. */
export interface RequestLine {
  request_id: string;
  trace_id: string | undefined;
  method: string;
  /** The route's pattern, not the path: a path can have a username in it. */
  route: string | null;
  status: number | 'aborted';
  duration_ms: number;
  key_id: string | undefined;
  /** In place of a key, of an operator's request. */
  operator_id: string | undefined;
  workspace_id: string | undefined;
  connection_id: string | undefined;
  operation_id: string | undefined;
  error_code: string | undefined;
}

const LEVELS = { debug: 20, info: 30, warn: 40 } as const;
type Level = keyof typeof LEVELS;

/**
 * The two lines that come at the rate of the work: one a request, one an operation's end.
 *
 * They are written past the logger, which would take as long as a third of a submission to look for secrets in them (measured: 36 µs a line,
 * 1 µs so). So they hold no field but those listed here, none of which can have a secret.
 *
 * A share of the lines of what went well is kept, chosen by the request's id: a request that is kept shows its operation's end as well,
 * on whichever thread of whichever node that is. What did not go well is always kept.
 */
export class LogLines {
  readonly #log: Logger;
  readonly #share: number;
  readonly #base: string;

  constructor(log: Logger, share = 1) {
    this.#log = log;
    this.#share = share;
    this.#base = JSON.stringify(log.bindings()).slice(1, -1);
  }

  /** Whether a request's line would be kept: for those who make it. `level`: debug for what operators ask again and again. */
  wants(level: 'info' | 'debug', requestId: string, status: RequestLine['status']): boolean {
    const wentWell = status !== 'aborted' && status < 400;
    return this.#log.isLevelEnabled(level) && (!wentWell || this.#keeps(requestId));
  }

  /** Writes a line that is wanted. */
  request(level: 'info' | 'debug', line: RequestLine): void {
    this.#write(level, 'request', line);
  }

  operationEnded(ended: EndedOperation): void {
    const { id, status, request_id, traceparent, ...rest } = ended;
    const level = status === 'outcome_unknown' ? 'warn' : 'info';
    const wentWell = status !== 'outcome_unknown' && status !== 'failed';
    if (!this.#log.isLevelEnabled(level) || (wentWell && !this.#keeps(request_id ?? id))) return;
    const trace_id = traceparent === null ? undefined : traceIdOf(traceparent);
    this.#write(level, 'operation ended', { operation_id: id, status, request_id, trace_id, ...rest });
  }

  #keeps(id: string): boolean {
    return this.#share >= 1 || fractionOf(id) < this.#share;
  }

  #write(level: Level, msg: string, fields: object): void {
    const head = `{"level":${LEVELS[level]},"time":${Date.now()},${this.#base}${this.#base && ','}`;
    const stream = (this.#log as unknown as Record<symbol, Stream>)[pino.symbols.streamSym] as Stream;
    stream.lastLevel = LEVELS[level];
    stream.write(`${head}${JSON.stringify(fields).slice(1, -1)},"msg":"${msg}"}\n`);
  }
}

/** Where a logger's lines go, as pino's own writes leave it. */
interface Stream {
  lastLevel?: number;
  write(line: string): void;
}

/** A number from 0 to 1 that is the same for the same id: FNV-1a, then mixed, because the ends of ids of a series hardly differ. */
function fractionOf(id: string): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < id.length; i++) hash = Math.imul(hash ^ id.charCodeAt(i), 0x01000193);
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  return ((hash ^ (hash >>> 13)) >>> 0) / 2 ** 32;
}
