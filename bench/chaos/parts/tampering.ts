import { readFileSync, unlinkSync } from 'node:fs';
import { registerHooks } from 'node:module';
import { isMainThread } from 'node:worker_threads';

/*
 * Loaded into every thread of a node before its own code (`node --import`), and into nothing else. It looks for orders in the
 * folder CHAOS_ORDERS: the file `clock` holds the milliseconds that the clock is off; `crash` and `pause` are taken by the
 * first actor thread that deletes them.
 */

const ORDERS = process.env.CHAOS_ORDERS;
/** How often orders are looked for, in milliseconds. */
const POLL_ms = Number(process.env.CHAOS_POLL_MS ?? 100);
const ACTOR_THREAD = '/actors/host.js';

const TrueDate = Date;
let off_ms = 0;
let isActorThread = false;

/** `Date` as ever, but for what it says of the present. */
globalThis.Date = new Proxy(TrueDate, {
  construct: (target, args, newTarget) =>
    Reflect.construct(target, args.length === 0 ? [target.now() + off_ms] : args, newTarget),
  apply: (target) => new target(target.now() + off_ms).toString(),
  get: (target, name) => (name === 'now' ? () => target.now() + off_ms : Reflect.get(target, name)),
});

function order(name: string): string | undefined {
  try {
    return readFileSync(`${ORDERS}/${name}`, 'utf8');
  } catch {
    return undefined;
  }
}

/** An order for one thread alone: whoever deletes it has it. */
function taken(name: string): string | undefined {
  const text = order(name);
  if (text === undefined) return undefined;
  try {
    unlinkSync(`${ORDERS}/${name}`);
    return text;
  } catch {
    return undefined;
  }
}

function obey(): void {
  off_ms = Number(order('clock') ?? 0);
  if (!isActorThread) return;
  if (taken('crash') !== undefined) throw new Error('this thread was ordered to crash');
  const pause_ms = Number(taken('pause') ?? 0);
  if (pause_ms > 0) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, pause_ms);
}

if (ORDERS !== undefined) {
  if (!isMainThread) {
    registerHooks({
      load(url, context, next) {
        if (url.endsWith(ACTOR_THREAD)) isActorThread = true;
        return next(url, context);
      },
    });
  }
  obey();
  setInterval(obey, POLL_ms).unref();
}
