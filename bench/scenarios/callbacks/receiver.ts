import { createHmac } from 'node:crypto';
import { type Received, type SigningIdentity, serveCallbacks } from '../../kit/callback-server.js';
import { LIMITS } from '../../kit/limits.js';

/**
 * The receiver of the deliveries scenario, run as a process so that it shares no thread with what it measures. It answers
 * 204 at once, counts every event of every path once, and checks the signature of a sample. Paths that begin with
 * `/dead` are never answered, those that begin with `/slow` after a while.
 */
export type ToReceiver =
  | { type: 'start'; identity: SigningIdentity }
  /** Forgets what came in and answers `done` once `count` callbacks have been accepted. */
  | { type: 'expect'; count: number }
  /** Answers `tally` with what came in since. */
  | { type: 'report' };

export type FromReceiver = { type: 'listening'; url: string } | { type: 'done' } | { type: 'tally'; tally: Tally };

export interface Tally {
  /** Callbacks that were answered with 204. */
  accepted: number;
  /** Of them, callbacks whose event had come to the same path before. */
  repeated: number;
  checked: number;
  /** Of the checked ones, those whose signature is not that of the secret. */
  forged: number;
  /** The last body that came in. */
  body: string;
  /** Milliseconds from `received_at` of the event to its arrival here, of each callback of a `/healthy` path. */
  healthy_ms: number[];
}

const seen = new Set<string>();
const empty = (): Tally => ({ accepted: 0, repeated: 0, checked: 0, forged: 0, body: '', healthy_ms: [] });
let tally = empty();
let lastBody: Buffer = Buffer.alloc(0);
let expected = Number.POSITIVE_INFINITY;

const send = (message: FromReceiver) => process.send?.(message);

function accept({ path, headers, body }: Received, secret: string): void {
  lastBody = body;
  const key = `${path} ${headers['x-cs-event-id']}`;
  if (seen.has(key)) tally.repeated++;
  seen.add(key);
  if (path.startsWith('/healthy')) {
    const { received_at } = JSON.parse(body.toString()) as { received_at: string };
    tally.healthy_ms.push(Date.now() - Date.parse(received_at));
  }
  const signature = headers['x-cs-signature'];
  if (signature !== undefined && tally.accepted % LIMITS.signature_sample_callbacks === 0) {
    tally.checked++;
    const hmac = createHmac('sha256', secret).update(`${headers['x-cs-timestamp']}.`).update(body);
    if (signature !== `v1=${hmac.digest('hex')}`) tally.forged++;
  }
  if (++tally.accepted === expected) send({ type: 'done' });
}

async function start({ secret, ...identity }: SigningIdentity): Promise<void> {
  const { url } = await serveCallbacks(identity, (received, response) => {
    if (received.path.startsWith('/dead')) return;
    const answer = () => {
      response.writeHead(204).end();
      accept(received, secret);
    };
    if (received.path.startsWith('/slow')) setTimeout(answer, LIMITS.slow_answer_ms);
    else answer();
  });
  send({ type: 'listening', url });
}

process.on('message', (message: ToReceiver) => {
  switch (message.type) {
    case 'start':
      void start(message.identity);
      return;
    case 'expect':
      seen.clear();
      tally = empty();
      expected = message.count;
      return;
    case 'report':
      send({ type: 'tally', tally: { ...tally, body: lastBody.toString() } });
      return;
    default:
      message satisfies never;
  }
});
process.once('disconnect', () => process.exit());
