import fc from 'fast-check';
import type { Work } from './ledger.js';

/** What clients, operators and luck do in a schedule, in this order; between two of them anything else may happen. */
export type Command =
  | { do: 'submit'; connection: number; at: number; work: Work }
  | { do: 'cancel'; operation: number }
  | { do: 'change'; connection: number }
  | { do: 'disconnect'; connection: number }
  | { do: 'lock'; connection: number }
  /** By the node that owns this partition. */
  | { do: 'close'; partition: number }
  | { do: 'sweep'; partition: number }
  | { do: 'poll'; partition: number }
  | { do: 'renew'; node: number }
  | { do: 'kill'; node: number }
  | { do: 'claim'; node: number; partition: number }
  /** Of all partitions that are free, in one transaction. */
  | { do: 'claim_all'; node: number }
  | { do: 'release'; partition: number }
  | { do: 'lapse'; partition: number }
  | { do: 'lose_start'; connection: number }
  | { do: 'lose_commits'; connection: number }
  | { do: 'store_future'; connection: number };

export const CONNECTIONS = 3;
export const PARTITIONS = 2;

const connection = fc.nat(CONNECTIONS - 1);
const partition = fc.nat(PARTITIONS - 1);
const node = fc.nat(1);

const works = fc.constantFrom<Work>('read', 'write', 'write', 'file');

/** How often each is drawn beside the others, and of what. */
const DRAWN: {
  [What in Command['do']]: [weight: number, of: fc.Arbitrary<Omit<Extract<Command, { do: What }>, 'do'>>];
} = {
  submit: [12, fc.record({ connection, at: fc.constantFrom(0, 0, 1), work: works })],
  close: [10, fc.record({ partition })],
  poll: [2, fc.record({ partition })],
  sweep: [1, fc.record({ partition })],
  renew: [1, fc.record({ node })],
  kill: [1, fc.record({ node })],
  claim: [2, fc.record({ node, partition })],
  claim_all: [1, fc.record({ node })],
  release: [1, fc.record({ partition })],
  lapse: [1, fc.record({ partition })],
  cancel: [2, fc.record({ operation: fc.nat(12) })],
  change: [1, fc.record({ connection })],
  disconnect: [1, fc.record({ connection })],
  lock: [1, fc.record({ connection })],
  lose_start: [3, fc.record({ connection })],
  lose_commits: [2, fc.record({ connection })],
  store_future: [1, fc.record({ connection })],
};

/** A command, and whether everything else that can happen comes before it. */
export interface Cue {
  command: Command;
  rested: boolean;
}

/** MailboxCloser finds something to do where nothing is in hand. */
const RESTED: Partial<Record<Command['do'], number>> = { close: 3, change: 1, disconnect: 1, submit: 1 };

/** Any command but these. */
export function anyCue(without: readonly string[]): fc.Arbitrary<Cue> {
  const drawn = Object.entries(DRAWN).filter(([what]) => !without.includes(what));
  return fc.oneof(
    ...drawn.map(([what, [weight, of]]) => ({
      weight,
      arbitrary: fc.record({
        command: (of as fc.Arbitrary<object>).map((rest) => ({ do: what, ...rest }) as Command),
        rested: fc.nat(3).map((n) => n >= 4 - (RESTED[what as Command['do']] ?? 0)),
      }),
    })),
  );
}

const NODES = ['A', 'B'];

/** What a command is called among the steps. */
export function commandWords(command: Command): string {
  switch (command.do) {
    case 'submit':
      return `a client sends a ${command.work} of connection ${command.connection} to ${NODES[command.at]}`;
    case 'cancel':
      return `a client cancels operation ${command.operation + 1}`;
    case 'change':
      return `a client changes connection ${command.connection}`;
    case 'disconnect':
      return `a client disconnects connection ${command.connection}`;
    case 'lock':
      return `somebody locks the job and the operations of connection ${command.connection}`;
    case 'close':
      return `the owner of partition ${command.partition} closes its mailboxes`;
    case 'sweep':
      return `the owner of partition ${command.partition} compares its mailboxes with the rows`;
    case 'poll':
      return `the owner of partition ${command.partition} looks for what is due`;
    case 'renew':
      return `${NODES[command.node]} renews its leases`;
    case 'kill':
      return `${NODES[command.node]} is killed and starts again`;
    case 'claim':
      return `${NODES[command.node]} claims partition ${command.partition}`;
    case 'claim_all':
      return `${NODES[command.node]} claims all partitions at once`;
    case 'release':
      return `partition ${command.partition} is given up`;
    case 'lapse':
      return `the lease of partition ${command.partition} runs out`;
    case 'lose_start':
      return `the database loses the start of what runs of connection ${command.connection}`;
    case 'lose_commits':
      return `the database loses the write boundary of what runs of connection ${command.connection}`;
    case 'store_future':
      return `a node of the version after stores what this one does not know for connection ${command.connection}`;
    default:
      return command satisfies never;
  }
}
