import { createServer, type IncomingMessage, type Server } from 'node:http';
import typia, { type IValidation, type tags } from 'typia';
import { performActivity } from './activity.js';
import type { FaultMode, Faults } from './faults.js';
import type { Mailer } from './mailer.js';
import type { ActivityType, Streams } from './realtime.js';
import type { Account, AccountSettings } from './state/accounts.js';
import type { State } from './state/state.js';
import type { Traffic } from './traffic.js';

type Username = string & tags.MinLength<1> & tags.MaxLength<255> & tags.Pattern<'\\S'>;

interface FaultRequest {
  account?: Username;
  capability?: string & tags.Pattern<'^social\\.[a-z_.]+$'>;
  mode: FaultMode;
  status?: number & tags.Type<'uint32'> & tags.Minimum<400> & tags.Maximum<599>;
  code?: string & tags.Pattern<'^[A-Za-z0-9_.-]{1,64}$'>;
  retry_after?: string & tags.Pattern<'^[ -~]{1,64}$'>;
  ms?: number & tags.Type<'uint32'> & tags.Maximum<600000>;
  times?: number & tags.Type<'uint32'> & tags.Minimum<1>;
}

interface StreamRequest {
  account: Username;
  action: 'emit' | 'drop' | 'silence' | 'resume';
  type?: ActivityType;
  data?: Record<string, unknown>;
  event_id?: string & tags.MinLength<1> & tags.MaxLength<128> & tags.Pattern<'^[A-Za-z0-9_-]+$'>;
}

interface AccountRequest extends Partial<AccountSettings> {
  username: Username;
  /** Signs every browser of the account out. */
  end_sessions?: true;
  /** Approves every sign-in that waits for that, or denies it. */
  approve?: boolean;
}

const validateFault = typia.createValidateEquals<FaultRequest>();
const validateStream = typia.createValidateEquals<StreamRequest>();
const validateAccount = typia.createValidateEquals<AccountRequest>();

/** A control request that makes no sense; the message names what is wrong with it. */
class UnusableRequest extends Error {
  constructor(
    message: string,
    readonly status = 400,
  ) {
    super(message);
  }
}

/** A body is no longer. */
const BODY_characters = 2 * 1024 * 1024;

/** The parts of the network that the control API changes. */
export interface ControlledParts {
  state: State;
  faults: Faults;
  streams: Streams;
  traffic: Traffic;
  mailer: Mailer;
}

/**
 * The control API: plain HTTP and JSON, for programs of this machine alone. A page of a browser that runs here cannot use it: its requests
 * name their origin or another host, or are no JSON. The requests are described in README.md.
 */
export function controlServer(parts: ControlledParts): Server {
  return createServer(async (request, response) => {
    let status = 200;
    let answer: unknown;
    try {
      requireProgram(request);
      const url = new URL(request.url ?? '/', 'http://control.invalid');
      const body = request.method === 'POST' ? await readJson(request) : undefined;
      const found = act(parts, `${request.method} ${url.pathname}`, url.searchParams, body);
      if (found === null) status = 404;
      answer = found ?? { error: 'There is no such control.' };
    } catch (error) {
      status = error instanceof UnusableRequest ? error.status : 500;
      answer = { error: error instanceof Error ? error.message : String(error) };
    }
    response.writeHead(status, { 'content-type': 'application/json; charset=utf-8' });
    response.end(JSON.stringify(answer));
  });
}

/** Throws for what a page could have a browser send. */
function requireProgram({ method, headers }: IncomingMessage): void {
  const { hostname } = URL.parse(`http://${headers.host}`) ?? { hostname: '' };
  if (!['127.0.0.1', 'localhost', '[::1]'].includes(hostname) || headers.origin !== undefined)
    throw new UnusableRequest('It is steered by programs of this machine, at 127.0.0.1.', 403);
  if (method === 'POST' && !/^application\/json *(;|$)/i.test(headers['content-type'] ?? ''))
    throw new UnusableRequest('The body is to be JSON: content-type: application/json.', 415);
}

/** Carries a request out and gives its answer; null when there is no such control. */
function act(parts: ControlledParts, control: string, query: URLSearchParams, body: unknown): unknown {
  const { state, faults, traffic } = parts;
  switch (control) {
    case 'GET /health':
      return { status: 'ok', members: state.directory.members.length };
    case 'GET /ledger': {
      const username = query.get('account');
      if (username === null) return { entries: state.ledger.entries() };
      const account = state.accounts.find(username);
      return { entries: account === undefined ? [] : state.ledger.entries(account.username) };
    }
    case 'GET /proxies':
      return { regions: traffic.report() };
    case 'GET /faults':
      return { faults: faults.list() };
    case 'POST /faults': {
      const fault = checked(validateFault(body));
      return faults.add({
        mode: fault.mode,
        account: fault.account === undefined ? null : state.account(fault.account).username,
        capability: fault.capability ?? null,
        status: fault.status ?? 500,
        code: fault.code ?? null,
        retry_after: fault.retry_after ?? null,
        ms: fault.ms ?? 0,
        times: fault.times ?? null,
      });
    }
    case 'DELETE /faults':
      return { cleared: faults.clear() };
    case 'POST /late':
      return { committed: faults.commitAll() };
    case 'POST /stream':
      return steer(parts, checked(validateStream(body)));
    case 'POST /accounts':
      return changeAccount(state, checked(validateAccount(body)));
    default:
      return null;
  }
}

function steer({ state, streams, mailer }: ControlledParts, request: StreamRequest): unknown {
  const account = state.account(request.account);
  const { username } = account;
  switch (request.action) {
    case 'drop':
      return { streams: streams.setMode(username, 'dropped') };
    case 'silence':
      return { streams: streams.setMode(username, 'silent') };
    case 'resume':
      return { streams: streams.setMode(username, 'speaking') };
    case 'emit': {
      const known = request.event_id === undefined ? null : streams.repeat(username, request.event_id);
      const emitted = known ?? emit(state, streams, mailer, account, request);
      return { event_id: emitted.id, delivered: emitted.streams > 0 };
    }
    default:
      return request.action satisfies never;
  }
}

function emit(
  state: State,
  streams: Streams,
  mailer: Mailer,
  account: Account,
  request: StreamRequest,
): { id: string; streams: number } {
  if (request.type === undefined) throw new UnusableRequest('emit needs a type.');
  const payload = performActivity(state, mailer, account, request.type, request.data ?? {});
  return streams.emit(account.username, request.type, payload, request.event_id);
}

function changeAccount(state: State, request: AccountRequest): unknown {
  const { username, end_sessions, approve, ...changes } = request;
  const { username: known } = state.account(username);
  if (Object.keys(changes).length > 0) state.commit({ type: 'account', username: known, changes });
  if (end_sessions === true) {
    for (const { token } of state.sessions.of(known)) state.commit({ type: 'session_ended', token });
  }
  const answered = approve === undefined ? 0 : state.challenges.approve(known, approve);
  const { member, settings } = state.account(known);
  const { hashId, publicId, memberId, firstName, lastName, headline } = member;
  return {
    username: known,
    hash_id: hashId,
    public_id: publicId,
    member_id: memberId,
    first_name: firstName,
    last_name: lastName,
    headline,
    sessions: state.sessions.of(known).length,
    approvals_answered: answered,
    ...settings,
  };
}

function checked<T>(result: IValidation<T>): T {
  if (result.success) return result.data;
  const [first] = result.errors;
  throw new UnusableRequest(`${first?.path ?? '$input'} is not ${first?.expected ?? 'valid'}.`);
}

async function readJson(request: IncomingMessage): Promise<unknown> {
  let text = '';
  for await (const chunk of request.setEncoding('utf8') as AsyncIterable<string>) {
    text += chunk;
    if (text.length > BODY_characters) throw new UnusableRequest('The body is too long.', 413);
  }
  try {
    return JSON.parse(text);
  } catch {
    throw new UnusableRequest('The body is not JSON.');
  }
}
