import pg from 'pg';
import { LIMITS } from '../limits.js';
import { Deadline } from '../process/deadline.js';
import { destroyConnection } from './session.js';
import { type SessionPurpose, sessionStatement, untakenSetting } from './session-settings.js';

/** Beside what pg takes: what the statements of this connection want of its session. */
export type ServiceClientConfig = pg.ClientConfig & { purpose?: SessionPurpose };

/** As pg types it. */
type Connected = ((error: Error) => void) | ((error: null, client: pg.Client) => void);

/**
 * A connection of the service. Its session is as the code relies on it before anybody uses it, whatever the address, the role or the
 * database set: one statement after connecting sets it and looks at it (STO-8). It needs no startup option, which poolers refuse.
 *
 * I1. It always has a listener for errors: between its pool, which hands it out, and the session that takes it, it has no other, and
 *     a connection that dies there would end the process. Its next statement fails, unsent.
 * I2. `connect` gives up one attempt after `connectionTimeoutMillis`, default LIMITS.connect_attempt_ms, and as long again for the session.
 */
export class ServiceClient extends pg.Client {
  readonly #statement: string;
  readonly #limit_ms: number;

  constructor({ purpose = {}, ...config }: ServiceClientConfig) {
    const limit_ms = config.connectionTimeoutMillis || LIMITS.connect_attempt_ms;
    super({ ...config, connectionTimeoutMillis: limit_ms });
    this.#limit_ms = limit_ms;
    this.#statement = sessionStatement(purpose);
    this.on('error', () => {}); // I1
  }

  override connect(): Promise<pg.Client>;
  override connect(callback: Connected): void;
  override connect(callback?: Connected): unknown {
    const prepared = this.#connected();
    if (!callback) return prepared;
    const done = callback as (error: unknown, client?: pg.Client) => void;
    return prepared.then((client) => done(null, client), done);
  }

  async #connected(): Promise<pg.Client> {
    await super.connect();
    try {
      const asked = this.query<Record<string, string | null>>(this.#statement);
      const { rows } = await Deadline.within(this.#limit_ms, asked, { reason: overdue }); // I2
      const name = untakenSetting(rows[0] ?? {});
      if (name) throw new Error(`the database does not take the setting ${name}`);
      return this;
    } catch (error) {
      destroyConnection(this);
      throw error;
    }
  }
}

/** As pg says it of an attempt to connect: nothing of the caller's was sent. */
const overdue = () => new Error('Connection terminated due to connection timeout');
