import { MessageChannel } from 'node:worker_threads';
import browserHost, { type FromBrowserHost, type ToBrowserHost } from '../../../browser-pool/host.js';
import type { PoolLimits } from '../../../browser-pool/limits.js';
import type { FromBrowser, RunEnd, RunOrder, SessionEffects, ToBrowser } from '../../../browser-pool/messages.js';
import { Channel } from '../../../storage/process/channel.js';
import type { BenchNetwork } from './network.js';

/** The pool's own host, in this thread, behind a channel as actors have it. */
export interface BenchHost extends AsyncDisposable {
  /** Throws when the run fails. */
  run(order: RunOrder): Promise<SessionEffects>;
  /** An order for this account's session; a login when it has none yet. */
  order(account: BenchAccount, capability: string): RunOrder;
}

/** A signed-in account. */
export interface BenchAccount {
  username: string;
  session: string | null;
  actorId: string | null;
}

export function startHost(network: BenchNetwork, limits: Partial<PoolLimits> = {}): BenchHost {
  const [runs, control] = [new MessageChannel(), new MessageChannel()];
  const ended = browserHost({
    options: { thread: 0, site: network.site, log: { level: 'warn', format: 'json' }, limits },
    control: control.port2,
    actors: [runs.port2],
  });
  const supervisor = new Channel<ToBrowserHost, FromBrowserHost>(control.port1);
  supervisor.onMessage(() => {});
  const actor = new Channel<ToBrowser, FromBrowser>(runs.port1);
  const waiting = new Map<number, (end: RunEnd) => void>();
  actor.onMessage((message) => {
    if (message.type === 'result' || message.type === 'failure' || message.type === 'skipped') {
      waiting.get(message.run)?.(message);
      waiting.delete(message.run);
    }
  });
  let next = 1;
  return {
    async run(order) {
      const run = next++;
      const ending = new Promise<RunEnd>((resolve) => waiting.set(run, resolve));
      actor.send({ type: 'run', run, ...order });
      const end = await ending;
      if (end.type !== 'result') throw new Error(`${order.capability}: ${JSON.stringify(end)}`);
      return end.effects ?? {};
    },
    order: (account, capability) => ({
      workspaceId: 'bench',
      connectionId: account.username,
      stateRevision: account.session === null ? 0 : 1,
      epoch: 1,
      capability,
      input: {},
      proxy: network.proxy,
      session: account.session,
      actorId: account.actorId,
      deadline_ms: 60_000,
      ...(account.session === null && { credentials: { username: account.username, password: 'sandbox' } }),
    }),
    async [Symbol.asyncDispose]() {
      supervisor.send({ type: 'drain', grace_ms: 0 });
      await ended;
    },
  };
}
