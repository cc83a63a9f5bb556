import { randomUUID } from 'node:crypto';
import { v7 as uuidv7 } from 'uuid';
import { capabilityNamed } from '../../../actors/capabilities/catalogue.js';
import type { Execution, Outcome, ProviderRuntime } from '../../../actors/operations/attempt/execution.js';
import type { ChallengeKind, ConnectionRow } from '../../../storage/model/records.js';
import { partitionOf } from '../../../storage/model/records.js';
import { PLAIN_VAULT } from '../../../storage/model/vault.js';
import { noteInvitation } from '../../../storage/operations/simulated-invitations.js';
import type { Database, Sql } from '../../../storage/postgres/database.js';
import { recorded } from '../../fixture/recorded.js';

/** What one execution did beside answering. */
export interface Observed {
  outcome: Outcome;
  boundaries: number;
  challenges: { kind: ChallengeKind; acceptsCode: boolean }[];
}

export interface RequestOptions {
  operationId?: string;
  signal?: AbortSignal;
  /** Codes the user gives, one a challenge; after them the challenge is never answered. */
  codes?: string[];
  /** Rejects at the write boundary, as a fenced attempt does. */
  fenced?: boolean;
}

export function connectionRow(actorId: string, ids: { id?: string; workspaceId?: string } = {}): ConnectionRow {
  const id = ids.id ?? randomUUID();
  return {
    id,
    workspace_id: ids.workspaceId ?? randomUUID(),
    partition: partitionOf(id),
    provider: 'simulated',
    username: null,
    actor_kind: 'person',
    actor_id: actorId,
    health: 'ready',
    state_revision: 0,
    region: null,
    proxy_id: null,
    recruiter_health: 'not_verified',
    recruiter_reason: null,
    recruiter_contract: null,
    recruiter_verified_at: null,
    recruiter_verified_revision: null,
    recruiter_operation_id: null,
    created_at: new Date(0),
  };
}

/** Runs one operation as an actor would, input cloned as it is between threads, and gives what happened. */
export async function request(
  provider: ProviderRuntime,
  connection: ConnectionRow,
  capability: string,
  input: Record<string, unknown> = {},
  options: RequestOptions = {},
): Promise<Observed> {
  const observed = { boundaries: 0, challenges: [] as Observed['challenges'] };
  const codes = [...(options.codes ?? [])];
  const ended = Promise.withResolvers<string>();
  const execution: Execution = {
    epoch: 1,
    operationId: options.operationId ?? randomUUID(),
    capability: capabilityNamed(capability)!,
    input: structuredClone(input),
    connection,
    signal: options.signal ?? new AbortController().signal,
    remaining_ms: 300_000,
    boundary: async () => {
      if (options.fenced) throw new Error('fenced');
      observed.boundaries++;
      return { until_ns: 2n ** 62n, until_ms: Number.MAX_SAFE_INTEGER };
    },
    pauseClock: () => {},
    resumeClock: () => {},
    storeFile: () => Promise.reject(new Error('no file is stored')),
    unverifyRecruiter: () => Promise.resolve(),
    challenge: async (kind, acceptsCode) => {
      observed.challenges.push({ kind, acceptsCode });
      if (kind === 'approval') return ended.promise;
      const code = acceptsCode ? codes.shift() : undefined;
      if (code === undefined) throw new Error('nobody answers');
      return code;
    },
    challengeEnded: () => ended.resolve(''),
  };
  return { outcome: await provider.run(execution), ...observed };
}

/** The result of an operation that must succeed. */
export async function succeed(...requested: Parameters<typeof request>): Promise<Record<string, unknown>> {
  const { outcome } = await request(...requested);
  if (outcome.status !== 'succeeded') throw new Error(`${requested[2]}: ${JSON.stringify(outcome)}`);
  return outcome.result;
}

/** Runs an operation and stores its end as the actor does: the operation's row, and the events it records. */
export async function perform(
  db: Database,
  provider: ProviderRuntime,
  connection: ConnectionRow,
  capability: string,
  input: Record<string, unknown>,
  operationId: string = uuidv7(),
): Promise<Outcome> {
  const { outcome } = await request(provider, connection, capability, input, { operationId });
  if (outcome.status === 'succeeded') {
    await db.query(
      'testOperation',
      `insert into operation (id, workspace_id, connection_id, partition, capability, status, idempotency_key, fingerprint,
         input, result)
       values ($1::uuid, $2, $3, $4, $5, 'succeeded', $1::uuid::text, '', '{}', $6)`,
      [
        operationId,
        connection.workspace_id,
        connection.id,
        connection.partition,
        capability,
        JSON.stringify(outcome.result),
      ],
    );
    const invitation = outcome.effects?.simulatedInvitation;
    if (invitation) await noteInvitation(db, { operationId, connectionId: connection.id, ...invitation });
    await recorded(db, connection.workspace_id, outcome.effects?.events ?? []);
  }
  return outcome;
}

const INVITATIONS = ['findSimulatedInvitations', 'readSimulatedAccepted'];

/** A database for providers that must not need one, of an account that has invited nobody. */
export const NO_DATABASE: Sql = {
  vault: PLAIN_VAULT,
  query: (name, _text, [asked] = []) =>
    INVITATIONS.includes(name)
      ? Promise.resolve(Array.isArray(asked) ? asked.map(() => ({ accepted: false, sent_at: null }) as never) : [])
      : Promise.reject(new Error(`the statement ${name} was not expected`)),
};
