import type { RunOrder, SessionEffects } from '../../browser-pool/messages.js';
import type { Network } from '../fixture/network.js';
import type { ActorChannel, TestRun } from './pool.js';

/** A connection as the actor keeps it: what it knows of its session, and orders that carry it. */
export class Account {
  readonly username: string;
  readonly connectionId: string;
  session: string | null = null;
  actorId: string | null = null;
  stateRevision = 0;
  password = 'sandbox';
  workspaceId = 'workspace';
  readonly #network: Network;

  constructor(network: Network, username: string) {
    this.#network = network;
    this.username = username;
    this.connectionId = `connection of ${username}`;
  }

  order(capability: string, input: Record<string, unknown> = {}, changes: Partial<RunOrder> = {}): RunOrder {
    return {
      workspaceId: this.workspaceId,
      connectionId: this.connectionId,
      stateRevision: this.stateRevision,
      epoch: 1,
      capability,
      input,
      proxy: this.#network.proxy,
      session: this.session,
      actorId: this.actorId,
      deadline_ms: 60_000,
      ...(capability === 'social.login' && { credentials: { username: this.username, password: this.password } }),
      ...changes,
    };
  }

  run(
    channel: ActorChannel,
    capability: string,
    input: Record<string, unknown> = {},
    changes: Partial<RunOrder> = {},
  ): TestRun {
    return channel.run(this.order(capability, input, changes));
  }

  /** Signs in and keeps the session, as the actor does. */
  async login(channel: ActorChannel): Promise<void> {
    const { effects } = await this.run(channel, 'social.login').expect('result');
    this.learn(effects);
  }

  learn(effects: SessionEffects | undefined): void {
    if (effects?.session !== undefined) {
      this.session = effects.session;
      this.stateRevision += 1;
    }
    if (effects?.actorId !== undefined) this.actorId = effects.actorId;
  }
}
