import fc from 'fast-check';

/** What may become of a statement beside being answered. */
const KINDS = {
  slow: 'its answer comes later',
  lost: 'it commits, and its answer is lost',
  late: 'it commits late',
  lost_late: 'its answer is lost, and it commits after that',
  held: 'it stands still between what it sees and its rows',
  not_sent: 'it is not sent',
  unheard: 'its connection ends before it commits',
  overdue: 'it is refused: 57014',
  deadlock: 'it is refused: 40P01',
  locked: 'it is refused: 55P03',
  read_only: 'it is refused: 25006',
} as const;

export type FaultKind = keyof typeof KINDS;

/** The codes of those that the server refuses. */
export const REFUSALS: Partial<Record<FaultKind, string>> = {
  overdue: '57014',
  deadlock: '40P01',
  locked: '55P03',
  read_only: '25006',
};

/** The statements of the nodes that a fault may meet; of a transaction, its first. */
export const STATEMENTS = [
  'submitOperations',
  'openMailboxes',
  'readQueued',
  'settleMailboxes',
  'startOperations',
  'startsLeftOut',
  'enterDispatching',
  'finishOperations',
  'finishAndStart',
  'storeFilePart',
  'claimPartitions',
  'retakePartitions',
  'releasePartitions',
  'hint',
] as const;

/** The `nth` statement of this name, from 0, meets it. */
export interface Fault {
  statement: (typeof STATEMENTS)[number];
  nth: number;
  kind: FaultKind;
}

/** Any fault but of these kinds. */
export function anyFault(without: readonly string[]): fc.Arbitrary<Fault> {
  const kinds = (Object.keys(KINDS) as FaultKind[]).filter((kind) => !without.includes(kind));
  return fc.record({
    statement: fc.constantFrom(...STATEMENTS),
    nth: fc.nat(4),
    kind: fc.constantFrom(...kinds),
  });
}

export const faultWords = ({ statement, nth, kind }: Fault): string => `${statement} ${nth + 1}: ${KINDS[kind]}`;

/** The faults of a schedule, as they come. */
export class Faults {
  readonly #faults: Fault[];
  readonly #seen = new Map<string, number>();
  #on = false;

  constructor(faults: readonly Fault[]) {
    this.#faults = [...faults];
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
  of(statement: string): FaultKind | undefined {
    if (!this.#on) return undefined;
    const nth = this.#seen.get(statement) ?? 0;
    this.#seen.set(statement, nth + 1);
    return this.#faults.find((fault) => fault.statement === statement && fault.nth === nth)?.kind;
  }
}
