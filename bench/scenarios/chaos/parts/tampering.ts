import { readFileSync, unlinkSync } from 'node:fs';
import { registerHooks } from 'node:module';
import { pathToFileURL } from 'node:url';
import { isMainThread } from 'node:worker_threads';

/*
 * Loaded into every thread of a node before its own code (`node --import`), and into nothing else. It looks for orders in the
 * folder CHAOS_ORDERS: the file `clock` holds the milliseconds that the clock is off; `crash` and `pause` are taken by the
 * first actor thread that deletes them.
 *
 * CHAOS_LIMITS, if any, has limits of the program CHAOS_PROGRAM (its `main.js`), by module and name: they are changed before anything reads
 * them. CHAOS_IDS_OFF_MS is what the clock of new ids alone is off by. With either the compiled modules run and not their bundles, in which no module
 * can be told from another.
 */

const ORDERS = process.env.CHAOS_ORDERS;
/** How often orders are looked for, in milliseconds. */
const POLL_ms = Number(process.env.CHAOS_POLL_MS ?? 100);
const ACTOR_THREAD = '/actors/thread/host.js';
const NEW_ID = '/storage/model/new-id.js';
const IDS_OFF_ms = Number(process.env.CHAOS_IDS_OFF_MS ?? 0);

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

/** Limits that this version of the program does not have are left out. */
async function changeLimits(modules: Record<string, Record<string, number>>): Promise<void> {
  const dist = new URL('../', pathToFileURL(process.env.CHAOS_PROGRAM ?? ''));
  for (const [module, values] of Object.entries(modules)) {
    const { LIMITS } = (await import(new URL(module, dist).href)) as { LIMITS: Record<string, unknown> };
    for (const [name, value] of Object.entries(values)) if (name in LIMITS) LIMITS[name] = value;
  }
}

/** A module whose own `Date` is off by so much more than that of everybody else. */
const withDateOff = (source: unknown, off: number) =>
  `const Date = { now: () => globalThis.Date.now() + ${off} };${source}`;

if (ORDERS !== undefined) {
  const compiled = IDS_OFF_ms !== 0 || process.env.CHAOS_LIMITS !== undefined;
  registerHooks({
    resolve: (specifier, context, next) =>
      next(compiled ? specifier.replace('/dist/bundled/', '/dist/') : specifier, context),
    load(url, context, next) {
      if (url.endsWith(ACTOR_THREAD)) isActorThread = !isMainThread;
      const loaded = next(url, context);
      if (IDS_OFF_ms === 0 || !url.endsWith(NEW_ID)) return loaded;
      return { ...loaded, source: withDateOff(loaded.source, IDS_OFF_ms) };
    },
  });
  if (process.env.CHAOS_LIMITS !== undefined) await changeLimits(JSON.parse(process.env.CHAOS_LIMITS));
  obey();
  setInterval(obey, POLL_ms).unref();
}
