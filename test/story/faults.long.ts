import t, { type Test } from 'tap';
import { capabilities } from '../../actors/capabilities/catalogue.js';
import { type Client, control, ledger, type Operation } from '../fixture/client.js';
import { serviceFixture, startService } from '../fixture/service.js';
import { AT_LENGTH } from '../fixture/size.js';
import { type Row, visitorOf } from '../fixture/social.js';

/** One capability under every fault; each on a connection of its own, all at once. */
interface Case {
  capability: string;
  /** Driven through pages: Chromium itself repeats a request whose connection broke. */
  pages: boolean;
  write: boolean;
  recruiter: boolean;
  input: Input;
}

type Input = (people: People, turn: number) => object;

/** Somebody known, and strangers enough for one each turn. */
interface People {
  known: Row;
  strangers: Row[];
}

const PAGES = new Set(['social.login', 'social.health.check', 'social.recruiter.switch']);

const toStranger = ({ strangers }: People, turn: number) => ({ recipient_actor_id: strangers[turn]?.hashId });

/** Inputs for this network, where the record's example does not fit it. */
const INPUTS: Partial<Record<string, Input>> = {
  'social.recruiter.switch': () => ({ contract: 'Northwind Hiring' }),
  'social.profile.get': ({ known }) => ({ profile_id: known.publicId }),
  'social.hash_ids.resolve': ({ known }) => ({ public_ids: [known.publicId] }),
  'social.company.get': () => ({ company_id: '20003' }),
  'social.recruiter.people.search': () => ({ networks: ['F'] }),
  'social.conversation.with_recipient': ({ known }) => ({ recipient_actor_id: known.hashId }),
  'social.messages.list': ({ known }) => ({ conversation_id: known.conversation }),
  'social.message.send': (people) => ({ ...toStranger(people, 0), body: 'Hello' }),
  'social.invitation.send': toStranger,
  'social.attachment.send': (people) => ({
    ...toStranger(people, 0),
    filename: 'a.txt',
    content_type: 'text/plain',
    data_base64: 'YWJj',
  }),
  'social.file.download': () => ({ url: 'https://files.social.test/samples/10.bin' }),
};

/** A read and a write. */
const DAILY = ['social.profile.get', 'social.message.send'];

const CASES: Case[] = capabilities
  .filter(({ name }) => AT_LENGTH || DAILY.includes(name))
  .map(({ name, kind, needs, example }) => ({
    capability: name,
    pages: PAGES.has(name),
    write: kind === 'write',
    recruiter: needs === 'recruiter',
    input: INPUTS[name] ?? (() => example.input),
  }));

t.test('capabilities of each kind, at length all, under every fault of the network', async (t) => {
  const fixture = await serviceFixture(t, { ACTOR_THREADS: '2' });
  const { client, sandboxUrl } = await startService(t, fixture);
  await Promise.all(
    CASES.map(async (one) => {
      const username = one.capability;
      const connection = await client.connect({ provider: 'social', username, password: 'sandbox', region: 'us' });
      const visitor = await visitorOf(t, fixture, username);
      const [thread] = (await visitor.list<Row>('/api/conversations?count=1')).data;
      const people = {
        known: { ...(thread?.participants as Row[] | undefined)?.[0], conversation: thread?.id },
        strangers: (await visitor.list<Row>('/api/search/people?network=O&count=50')).data,
      };
      await new Trial(t, client, sandboxUrl, connection, people, one).run();
    }),
  );
});

class Trial {
  #turn = 0;
  #written = 0;

  constructor(
    private readonly t: Test,
    private readonly client: Client,
    private readonly sandboxUrl: string,
    private readonly connection: string,
    private readonly people: People,
    private readonly one: Case,
  ) {}

  async run(): Promise<void> {
    const { t, one } = this;
    await this.#ready();
    const first = await this.#under('delay', { ms: 300 });
    t.match(first, { status: 'succeeded', error_code: null, error_details: null }, `${one.capability} after a delay`);
    t.equal(first.attempts.length, 1);
    await this.#settled('ready', one.write ? 1 : 0);

    const unavailable = await this.#under('error', { status: 503 });
    // Neither a page nor a file has the site's word for its refusal.
    const word = one.pages || one.capability === 'social.file.download' ? {} : { upstream_code: 'server_error' };
    t.strictSame(
      ending(unavailable),
      one.write ? UNKNOWN : ['failed', 'upstream_error', { retryable: true, upstream_status: 503, ...word }],
      `${one.capability} answered 503`,
    );
    this.#evident(unavailable, 'upstream_error', 503);
    await this.#settled('ready', 0);
    const refused = await this.#under('error', { status: 409 });
    t.match(
      refused,
      { error_code: 'upstream_error', error_details: { retryable: true, upstream_status: 409 } },
      `${one.capability} refused`,
    );
    t.match(refused, { evidence: null, attempts: [{ phase: one.write ? 'confirming' : 'reading' }] });
    await this.#settled('ready', 0);
    const slowed = one.capability === 'social.invitations.sent.list' ? 'upstream_error' : 'provider_rate_limited';
    const slower = { error_code: slowed, error_details: { retryable: true, upstream_status: 429 } };
    t.match(await this.#under('error', { status: 429 }), slower, `${one.capability} told to slow down`);
    await this.#settled('ready', 0);

    const malformed = await this.#under('malformed');
    if (one.write) t.strictSame(ending(malformed), UNKNOWN, `${one.capability} answered with nonsense`);
    else t.match(malformed, { status: 'failed', error_code: 'parsing_error', error_details: { retryable: false } });
    this.#evident(malformed, 'parsing_error', 200);
    await this.#settled('ready', one.write ? 1 : 0);

    const loggedOut = await this.#under('logged_out');
    t.match(loggedOut, { status: 'failed', error_code: 'authentication_failed', error_details: { retryable: false } });
    // A sign-in that the site breaks off says nothing about the session before it.
    await this.#settled(one.capability === 'social.login' ? 'ready' : 'needs_login', 0);
    await this.#ready();

    for (const [mode, committed, fault, status] of [
      ['drop_before_commit', 0, 'connection_lost', null],
      ['drop_after_commit', 1, 'connection_lost', null],
      ...(one.write ? [['error_after_commit', 1, 'upstream_error', 500] as const] : []),
      ['hang', 0, 'upstream_timeout', null],
    ] as const) {
      const lost = await this.#under(mode);
      if (one.write) t.strictSame(ending(lost), UNKNOWN, `${one.capability} under ${mode}`);
      else if (one.capability === 'social.login' && mode === 'hang') {
        const expected = { status: 'failed', error_code: 'upstream_timeout', error_details: { retryable: true } };
        t.match(lost, expected, 'the password has left, and is not given again');
        t.equal(lost.attempts.length, 1);
      } else t.match(lost, { status: 'succeeded', error_code: null }, `${one.capability} tried again after ${mode}`);
      this.#evident(lost, fault, status);
      if (!one.pages) t.equal(lost.attempts.length, one.write ? 1 : 2);
      await this.#settled('ready', one.write ? committed : 0);
    }
    if (one.write || one.pages) return;
    t.strictSame(
      ending(await this.#under('drop_before_commit', { times: 3 })),
      ['failed', 'upstream_error', { retryable: true, reason: 'connection_lost', upstream_status: null }],
      `${one.capability} given up after three`,
    );
    await this.#settled('ready', 0);
  }

  /** What is known of a write in question: its request left past the boundary, and how far an answer came. Of a read, nothing. */
  #evident({ evidence, attempts }: Operation, fault: string, status: number | null): void {
    const { one, t } = this;
    const [attempt] = attempts;
    if (!one.write || !attempt) {
      t.equal(evidence, null, one.capability);
      return;
    }
    const answer = status === null ? null : { status };
    t.match(evidence, { fault, request: { sent: 'yes' }, worker: { attempt_id: attempt.id } }, one.capability);
    t.strictSame(evidence?.answer, answer);
    t.equal(attempt.phase, answer ? 'confirming' : 'dispatching');
    const times = [attempt.started_at, evidence?.boundary_at ?? '', evidence?.request.at ?? ''];
    t.strictSame(times.toSorted(), times, 'in their order');
  }

  /** Signed in, and under a contract where one is needed. */
  async #ready(): Promise<void> {
    const { client, connection, one, t } = this;
    t.match(await client.run(connection, 'social.login'), { status: 'succeeded' }, `${one.capability} signed in`);
    if (one.recruiter) t.match(await client.run(connection, 'social.recruiter.switch'), { status: 'succeeded' });
  }

  async #under(mode: string, more: object = {}): Promise<Operation> {
    const { capability, input } = this.one;
    const fault = { account: capability, capability, mode, times: 1, ...more };
    await control(this.sandboxUrl, 'POST', '/faults', fault);
    return this.client.run(this.connection, capability, input(this.people, this.#turn++));
  }

  /** What the connection and the ledger look like after it: never more than the one write. */
  async #settled(health: string, written: number): Promise<void> {
    const { client, connection, one, sandboxUrl, t } = this;
    t.equal((await client.send('GET', `/v1/connections/${connection}`)).body.health, health, one.capability);
    this.#written += written;
    t.equal((await ledger(sandboxUrl, one.capability)).length, this.#written, `${one.capability} in the ledger`);
  }
}

const UNKNOWN = ['outcome_unknown', null, null];
const ending = ({ status, error_code, error_details }: Operation) => [status, error_code, error_details];
