import { isTerminal } from '../../../storage/model/transitions.js';
import type { Entry, Ledger } from './ledger.js';
import type { JobLeft, OperationLeft } from './rows.js';

/** What a schedule has left, once nothing more happens. */
export interface Left {
  ledger: Ledger;
  operations: OperationLeft[];
  jobs: JobLeft[];
  /** The operations that some node has in hand. */
  inHand: string[];
  /** How often rows and memory did not agree about an operation. */
  orphans: number;
}

type Rule = (left: Left) => Iterable<string>;

function* everyOperationEnds({ ledger, operations }: Left): Iterable<string> {
  const rows = new Map(operations.map((row) => [row.key, row]));
  for (const { name, operationId } of ledger.entries.values()) {
    const row = rows.get(name);
    if (!row) {
      if (operationId) yield `${name} was accepted, and there is no row of it`;
    } else if (!isTerminal(row.status)) yield `${name} is still ${row.status}`;
  }
}

function* nothingIsLeft({ jobs, inHand, operations }: Left): Iterable<string> {
  for (const { id, state } of jobs) yield `the mailbox of ${id} is still ${state}`;
  for (const id of inHand) yield `${operations.find((row) => row.id === id)?.key ?? id} is still in hand`;
}

function* writtenAsItEnded({ ledger, operations }: Left): Iterable<string> {
  for (const { key, status, error_code: error } of operations) {
    const entry = ledger.entries.get(key);
    if (!entry) continue;
    const { boundaryLost, work, name } = entry;
    const written = entry.written.length;
    // Who takes over what the database has lost cannot know of it, nor can who cancels it.
    const known = boundaryLost ? new Set(entry.written).size : 1;
    if (written > known) yield `${name} was written ${written} times`;
    if (status === 'succeeded' && work === 'write' && written === 0) yield `${name} succeeded, and was not written`;
    if ((status === 'canceled' || status === 'failed') && written > 0 && !boundaryLost)
      yield `${name} is ${status}, and was written`;
    if (status === 'outcome_unknown' && work !== 'write') yield `${name} is unknown, and writes nothing`;
    // What has lost its workers again and again is given up.
    if (status === 'failed' && work !== 'future' && error !== 'worker_lost') yield `${name} failed: ${error}`;
    if (status === 'succeeded' && work === 'future') yield `${name} succeeded, and nobody knows it here`;
  }
}

function* nothingWasPutRight({ orphans }: Left): Iterable<string> {
  if (orphans > 0) yield `rows and memory did not agree about ${orphans} operations`;
}

/** What was accepted before another was asked for runs before it, each time that it runs. */
function* ranInOrder({ ledger }: Left): Iterable<string> {
  const entries = [...ledger.entries.values()];
  for (const later of entries) {
    const [first] = later.begun;
    if (first === undefined) continue;
    for (const earlier of entries) {
      if (!standsBefore(earlier, later)) continue;
      const last = earlier.begun.at(-1);
      if (last !== undefined && last > first)
        yield `${later.name} began before ${earlier.name}, which was accepted before`;
    }
  }
}

const standsBefore = (one: Entry, other: Entry) =>
  one.connectionId === other.connectionId && one.accepted !== undefined && one.accepted < other.asked;

function* canceledStaysSo({ ledger }: Left): Iterable<string> {
  for (const { name, canceled, begun, startLost } of ledger.entries.values()) {
    if (canceled === undefined || startLost) continue; // whose answer to its start is on its way cannot know that it was lost
    if (begun.some((at) => at > canceled)) yield `${name} began after it was canceled`;
  }
}

const RULES: Rule[] = [
  everyOperationEnds,
  nothingIsLeft,
  writtenAsItEnded,
  nothingWasPutRight,
  ranInOrder,
  canceledStaysSo,
];

/** What a schedule broke of what was promised. */
export function judge(left: Left): string[] {
  return [...left.ledger.breaches, ...RULES.flatMap((rule) => [...rule(left)])];
}
