import type { SkipReason } from '../../browser-pool/contract/signature.js';
import type { SessionEffects } from '../../browser-pool/messages.js';
import { readSecrets } from '../../storage/connections/session-effects.js';
import { OperationError } from '../../storage/model/errors.js';
import type { ConnectionRow } from '../../storage/model/records.js';
import type { Database } from '../../storage/postgres/database.js';
import type { KeyRing } from '../../storage/secrets/encryption.js';
import { passwordContext, sessionContext } from '../../storage/secrets/sealing.js';
import { LIMITS } from '../limits.js';
import { type Execution, Interrupted, type ProviderRuntime } from '../operations/execution.js';
import type { BrowserLink } from './browser-link.js';
import { type PinnedProxy, pinProxy } from './proxy-pin.js';

/**
 * Runs `social` operations: hands the connection's session and pinned proxy to the browser host of its partition, and
 * carries the host's questions (the write boundary, a part of a file, a challenge) to the execution and the answers back.
 */
export interface SocialRuntimeOptions {
  db: Database;
  ring: KeyRing;
  /** The browser host that serves a partition. */
  link: (partition: number) => BrowserLink;
  /** How long a host may take to end a run that was stopped; the usual bound unless given. */
  stopped_run_ms?: number;
}

export function createSocialRuntime(options: SocialRuntimeOptions): ProviderRuntime {
  return {
    async run(execution) {
      const { connection, capability } = execution;
      requireSensibleFilters(execution);
      const proxy = await pinProxy(options.db, options.ring, connection, capability.opensSession === true);
      if (!proxy) throw new OperationError('regional_proxy_unavailable', { region: connection.region });
      const secrets = await openSecrets(options, connection, capability.opensSession === true);
      const timeout_ms = options.stopped_run_ms ?? LIMITS.stopped_run_ms;
      const end = await runOnLink(options.link(connection.partition), execution, proxy, secrets, timeout_ms);
      switch (end.type) {
        case 'result':
          return { status: 'succeeded', result: end.result, ...effectsOf(end.effects) };
        case 'skipped':
          return { status: 'skipped', reason: end.reason as SkipReason, ...effectsOf(end.effects) };
        case 'failure': {
          // Past the boundary only the provider's own refusal is proof that nothing was done.
          const unproven = end.pastBoundary && capability.kind === 'write';
          if (unproven) return { status: 'outcome_unknown', ...effectsOf(end.effects) };
          if (end.code === 'canceled') throw interruption(execution);
          const failure = { code: end.code, details: end.details ?? {} };
          return { status: 'failed', failure, transient: end.transient, ...effectsOf(end.effects) };
        }
      }
    },
  };
}

/** OPS-6: what recruiter filters hold is only looked at when the operation's turn comes. */
function requireSensibleFilters({ capability, input }: Execution): void {
  const errors = capability.checkInTurn?.(input) ?? [];
  if (errors.length > 0) throw new OperationError('validation_error', { errors });
}

const effectsOf = (effects: SessionEffects | undefined): { effects?: SessionEffects } => (effects ? { effects } : {});

const interruption = (execution: Execution): Error =>
  execution.signal.reason instanceof Interrupted ? execution.signal.reason : new Interrupted('canceled');

interface OpenSecrets {
  session: string | null;
  credentials?: { username: string; password: string };
}

async function openSecrets(
  { db, ring }: SocialRuntimeOptions,
  connection: ConnectionRow,
  login: boolean,
): Promise<OpenSecrets> {
  const row = await readSecrets(db, connection.id);
  if (!row) throw new Interrupted('fenced'); // deleted in the meantime
  const session = row.session_sealed && ring.open(row.session_sealed, sessionContext(connection.id)).toString('utf8');
  if (!login || !row.password_sealed) return { session };
  const password = ring.open(row.password_sealed, passwordContext(connection.id)).toString('utf8');
  return { session, credentials: { username: connection.username ?? '', password } };
}

async function runOnLink(
  link: BrowserLink,
  execution: Execution,
  proxy: PinnedProxy,
  secrets: OpenSecrets,
  timeout_ms: number,
) {
  const { connection, signal } = execution;
  let cancelTimer: NodeJS.Timeout | undefined;
  const cancel = (run: number) => {
    link.send({ type: 'cancel', run });
    cancelTimer ??= setTimeout(() => link.giveUp(run), timeout_ms);
  };
  let unlisten = () => {};
  let refusal: unknown;
  const refuse = (run: number, error: unknown) => {
    refusal = error;
    cancel(run);
  };
  try {
    const end = await link.run(
      {
        workspaceId: connection.workspace_id,
        connectionId: connection.id,
        stateRevision: connection.state_revision,
        epoch: execution.epoch,
        capability: execution.capability.name,
        input: execution.input,
        proxy,
        ...secrets,
        actorId: connection.actor_id,
        deadline_ms: LIMITS.operation_ms,
      },
      {
        boundary: (run) => {
          execution.boundary().then(
            () => link.send({ type: 'proceed', run }),
            (error: unknown) => refuse(run, error),
          );
        },
        file: (run, bytes) => {
          execution.storeFile(Buffer.from(bytes)).then(
            () => link.send({ type: 'stored', run }),
            (error: unknown) => refuse(run, error),
          );
        },
        challenge: (run, { kind, acceptsCode }) => {
          execution.challenge(kind, acceptsCode).then(
            (code) => link.send({ type: 'code', run, code }),
            (error: unknown) => refuse(run, error),
          );
        },
      },
      (run) => {
        const aborted = () => cancel(run);
        signal.addEventListener('abort', aborted);
        unlisten = () => signal.removeEventListener('abort', aborted);
        if (signal.aborted) aborted();
      },
    );
    // A boundary or a challenge that was refused ended the run through `cancel`: say why, not how.
    if (refusal !== undefined && end.type === 'failure' && end.code === 'canceled') throw refusal;
    return end;
  } finally {
    unlisten();
    clearTimeout(cancelTimer);
  }
}
