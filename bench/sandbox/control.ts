import { createServer, type IncomingMessage, type Server } from 'node:http';
import typia, { type IValidation, type tags } from 'typia';
import { stage } from './activity.js';
import type { FaultMode, Faults } from './faults.js';
import type { Post } from './mailer.js';
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
}

const validateFault = typia.createValidateEquals<FaultRequest>();
const validateStream = typia.createValidateEquals<StreamRequest>();
const validateAccount = typia.createValidateEquals<AccountRequest>();

/** Says what is wrong with a control request. */
class Unusable extends Error {}

/** The parts of the network that the control API moves. */
export interface Steered {
  state: State;
  faults: Faults;
  streams: Streams;
  traffic: Traffic;
  post: Post;
}

/** The control API: plain HTTP and JSON, for loopback only. Its requests are described in README.md. */
export function controlServer(steered: Steered): Server {
  return createServer(async (request, response) => {
    let status = 200;
    let answer: unknown;
    try {
      const url = new URL(request.url ?? '/', 'http://control.invalid');
      const body = request.method === 'POST' ? await readJson(request) : undefined;
      const found = act(steered, `${request.method} ${url.pathname}`, url.searchParams, body);
      if (found === null) status = 404;
      answer = found ?? { error: 'There is no such control.' };
    } catch (error) {
      status = error instanceof Unusable ? 400 : 500;
      answer = { error: error instanceof Error ? error.message : String(error) };
    }
    response.writeHead(status, { 'content-type': 'application/json; charset=utf-8' });
    response.end(JSON.stringify(answer));
  });
}

/** Does what a request asks for and gives the answer; null when there is no such control. */
function act(steered: Steered, control: string, query: URLSearchParams, body: unknown): unknown {
  const { state, faults, traffic } = steered;
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
      const asked = checked(validateFault(body));
      return faults.add({
        mode: asked.mode,
        account: asked.account === undefined ? null : state.account(asked.account).username,
        capability: asked.capability ?? null,
        status: asked.status ?? 500,
        ms: asked.ms ?? 0,
        times: asked.times ?? null,
      });
    }
    case 'DELETE /faults':
      return { cleared: faults.clear() };
    case 'POST /stream':
      return steer(steered, checked(validateStream(body)));
    case 'POST /accounts':
      return changeAccount(state, checked(validateAccount(body)));
    default:
      return null;
  }
}

function steer({ state, streams, post }: Steered, asked: StreamRequest): unknown {
  const account = state.account(asked.account);
  const { username } = account;
  switch (asked.action) {
    case 'drop':
      return { streams: streams.setMood(username, 'dropped') };
    case 'silence':
      return { streams: streams.setMood(username, 'silent') };
    case 'resume':
      return { streams: streams.setMood(username, 'speaking') };
    case 'emit': {
      const known = asked.event_id === undefined ? null : streams.repeat(username, asked.event_id);
      const emitted = known ?? emit(state, streams, post, account, asked);
      return { event_id: emitted.id, delivered: emitted.streams > 0 };
    }
  }
}

function emit(
  state: State,
  streams: Streams,
  post: Post,
  account: Account,
  asked: StreamRequest,
): { id: string; streams: number } {
  if (asked.type === undefined) throw new Unusable('emit needs a type.');
  const payload = stage(state, post, account, asked.type, asked.data ?? {});
  return streams.emit(account.username, asked.type, payload, asked.event_id);
}

function changeAccount(state: State, asked: AccountRequest): unknown {
  const { username, end_sessions, ...changes } = asked;
  const { username: known } = state.account(username);
  if (Object.keys(changes).length > 0) state.commit({ type: 'account', username: known, changes });
  if (end_sessions === true) {
    for (const { token } of state.sessions.of(known)) state.commit({ type: 'session_ended', token });
  }
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
    ...settings,
  };
}

function checked<T>(result: IValidation<T>): T {
  if (result.success) return result.data;
  const [first] = result.errors;
  throw new Unusable(`${first?.path ?? '$input'} is not ${first?.expected ?? 'valid'}.`);
}

async function readJson(request: IncomingMessage): Promise<unknown> {
  let text = '';
  for await (const chunk of request.setEncoding('utf8') as AsyncIterable<string>) text += chunk;
  try {
    return JSON.parse(text);
  } catch {
    throw new Unusable('The body is not JSON.');
  }
}
