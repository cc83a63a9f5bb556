/*
 * Stands in for `async-hook-domain` in a lane (hooks.ts): by that tap learns of errors that no test could catch. The package follows every promise
 * to the test that made it, which takes a sixth of the processor time of a lane; here such an error is one of the newest test that runs.
 */

type OnError = (error: unknown, kind: string) => void;

/** What tap makes for each of its tests. */
export class Domain {
  readonly onerror: OnError;

  constructor(onerror: OnError) {
    this.onerror = onerror;
    running.push(this);
  }

  destroy(): void {
    const place = running.lastIndexOf(this);
    if (place >= 0) running.splice(place, 1);
  }
}

/** Of the tests that run, in the order of their beginning. */
let running: Domain[] = [];

/** What is of no file shall end the process: called before the first one runs. */
export function forgetProcess(): void {
  running = [];
}

process.on('uncaughtException', (error, kind) => {
  const newest = running.at(-1);
  if (!newest) throw error;
  newest.onerror(error, kind);
});
