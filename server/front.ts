import type { Logger } from '../storage/log/log.js';
import { HttpError } from '../storage/model/errors.js';
import { type Answer, errorAnswer, json } from './http/answer.js';
import { router } from './http/router.js';
import { BodyMemory } from './http/wire/body-memory.js';
import { ConnectionCount } from './http/wire/connection-count.js';
import type { HttpExchange } from './http/wire/exchange.js';
import { type Listening, listen } from './http/wire/socket.js';
import { answerHeaders, requestIdOf } from './responder.js';
import { routes } from './table.js';

export interface FrontOptions {
  host: string;
  /** 0 takes a free one. */
  port: number;
  log: Logger;
  /** Open connections: those past it are closed as they come; absent: no limit. */
  connections?: number;
}

/**
 * The address of the service. It is taken before anything is started, so that a start which cannot have it fails at once; until the
 * edge serves it, every request is answered 503 and its connection closed (HTTP-22).
 */
export interface Front extends Listening {
  /** From now on requests go there. */
  serve(handle: (exchange: HttpExchange) => void): void;
}

/** Rejects with one Error when the port is in use. */
export async function openFront({ host, port, log, connections }: FrontOptions): Promise<Front> {
  let handle: (exchange: HttpExchange) => void = turnAway;
  const count = new ConnectionCount(connections ?? Number.POSITIVE_INFINITY, log);
  const listening = await listen(host, port, count, (exchange) => handle(exchange));
  return {
    ...listening,
    serve(next) {
      handle = next;
    },
  };
}

const match = router(routes);
const NO_BODIES = new BodyMemory(0);
const STARTING = new HttpError('unavailable', 'the service is starting');

function turnAway(exchange: HttpExchange): void {
  const requestId = requestIdOf(exchange);
  const route = match(exchange.path)?.routes.values().next().value;
  void exchange.headers; // read while they can be
  exchange.receive(0, NO_BODIES);
  const error = errorAnswer(STARTING, route?.errors ?? 'plain', requestId);
  const answer = route?.path === '/livez' ? ALIVE : health(route?.path, error);
  void exchange.send(answer, answerHeaders(exchange, requestId), true);
}

const ALIVE = json(200, { status: 'ok' });

/** The same refusal in the form of the paths that a balancer reads. */
function health(path: string | undefined, refusal: Answer): Answer {
  switch (path) {
    case '/healthz':
      return json(refusal.status, { status: 'unavailable' }, refusal.headers);
    case '/readyz':
      return json(refusal.status, { status: 'unavailable', reasons: ['starting'] }, refusal.headers);
    default:
      return refusal;
  }
}
