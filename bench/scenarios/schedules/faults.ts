import fc from 'fast-check';
import { LIMITS } from './limits.js';

/** What may become of a statement beside being answered, and how often that is drawn beside the others. */
const KINDS = {
  slow: [3, 'its answer comes later'],
  lost: [3, 'it commits, and its answer is lost'],
  late: [2, 'it commits late'],
  lost_late: [6, 'its answer is lost, and it commits after that'],
  held: [7, 'it stands still between what it sees and its rows'],
  not_sent: [1, 'it is not sent'],
  unheard: [2, 'its connection ends before it commits'],
  overdue: [1, 'it is refused: 57014'],
  deadlock: [1, 'it is refused: 40P01'],
  locked: [1, 'it is refused: 55P03'],
  read_only: [1, 'it is refused: 25006'],
} as const;

export type FaultKind = keyof typeof KINDS;

/** The codes of those that the server refuses. */
export const REFUSALS: Partial<Record<FaultKind, string>> = {
  overdue: '57014',
  deadlock: '40P01',
  locked: '55P03',
  read_only: '25006',
};

/** The statements of the nodes that a fault may meet, with how often; of a transaction, its first. A hint can only be lost. */
const STATEMENTS = {
  submitOperations: 4,
  openMailboxes: 4,
  readQueued: 3,
  closeMailboxes: 8,
  startOperations: 2,
  startsLeftOut: 1,
  enterDispatching: 2,
  finishOperations: 2,
  finishAndStart: 2,
  storeFilePart: 1,
  claimPartitions: 1,
  retakePartitions: 1,
  releasePartitions: 1,
  hint: 2,
} as const;

/** The `nth` statement of this name, from 0, meets it. */
export interface Fault {
  statement: keyof typeof STATEMENTS;
  nth: number;
  kind: FaultKind;
  /** What comes later does so after as many other steps at least. */
  steps: number;
}

export const faultWords = ({ statement, nth, kind }: Fault): string => `${statement} ${nth + 1}: ${KINDS[kind][1]}`;

/** Any fault but of these kinds. */
export function anyFault(without: readonly string[]): fc.Arbitrary<Fault> {
  const kinds = Object.entries(KINDS).filter(([kind]) => !without.includes(kind));
  return fc.record({
    statement: drawn(Object.entries(STATEMENTS)),
    nth: fc.constantFrom(0, 0, 0, 1, 1, 2),
    steps: fc.integer({ min: 1, max: LIMITS.late_steps }),
    kind: drawn(kinds.map(([kind, [weight]]) => [kind, weight])),
  }) as fc.Arbitrary<Fault>;
}

const drawn = (weights: [string, number][]): fc.Arbitrary<string> =>
  fc.oneof(...weights.map(([value, weight]) => ({ weight, arbitrary: fc.constant(value) })));

const ENDS = new Set(['finishOperations', 'finishAndStart']);

/** How many operations a statement of this name ends, as its first parameter tells: the ids, in PostgreSQL's binary form. */
function endedBy(statement: string, [ids]: unknown[]): number {
  if (!ENDS.has(statement)) return 0;
  return ids instanceof Buffer && ids.readInt32BE(0) === 1 ? ids.readInt32BE(12) : 0;
}

/** The faults of a schedule, as they come. */
export class Faults {
  readonly #faults: Fault[];
  readonly #seen = new Map<string, number>();
  #on = false;

  readonly #heavyEnds: boolean;

  /** `heavyEnds`: a statement that ends more than one operation reaches its time limit. */
  constructor(faults: readonly Fault[], heavyEnds: boolean) {
    this.#faults = [...faults];
    this.#heavyEnds = heavyEnds;
  }

  /** After how many other steps a statement is sent: heavy ends take long, so that further ones gather behind them. */
  stepsBefore(statement: string): number {
    return this.#on && this.#heavyEnds && ENDS.has(statement) ? LIMITS.late_steps : 0;
  }

  /** True for a statement that ends more than it can in its time. */
  tooHeavy(statement: string, values: unknown[]): boolean {
    return this.#on && this.#heavyEnds && endedBy(statement, values) > 1;
  }

  /** From now on statements are counted, and meet them. */
  begin(): void {
    this.#on = true;
  }

  /** Nothing more fails. */
  end(): void {
    this.#on = false;
  }

  /** What the statement that comes now is to meet. */
  of(statement: string): Fault | undefined {
    if (!this.#on) return undefined;
    const nth = this.#seen.get(statement) ?? 0;
    this.#seen.set(statement, nth + 1);
    return this.#faults.find((fault) => fault.statement === statement && fault.nth === nth);
  }
}
