import { setImmediate as nextTurn } from 'node:timers/promises';
import { HttpError } from '../../../storage/model/errors.js';
import { Deadline } from '../../../storage/process/deadline.js';
import { FairSlots } from '../../../storage/process/fair-slots.js';
import { LIMITS } from '../limits.js';
import type { WorkspaceShare } from './workspace-requests.js';

/**
 * The lane of large bodies: what is made of one on its way to its commit takes many times its size, so they are worked on a few at a
 * time, in turns between workspaces. Meanwhile the others wait as they came, counted in the edge's memory for bodies. Small ones do
 * not wait for them.
 *
 * I1. From the parsing of a large body until its request is done it has one of `LIMITS.large_bodies` turns.
 *     Each begins in a turn of the event loop of its own: what is made of one at once, 0.15 s of a body of wrong fields, is not made of
 *     all of them before anybody else is heard.
 * I2. A body that gets no turn within `LIMITS.large_body_wait_ms` is refused with 503 `overloaded`: nothing of it was stored.
 */
export class LargeBodies {
  readonly #turns = new FairSlots(LIMITS.large_bodies);

  /** The turn of a body of so many bytes, to be given back; undefined for one that needs none. `parked` awaits it (`WorkspaceShare`). */
  turn(workspaceId: string, bytes: number, parked: WorkspaceShare['parked']): Promise<() => void> | undefined {
    return bytes <= LIMITS.body_bytes ? undefined : this.#turn(workspaceId, parked);
  }

  async #turn(workspaceId: string, parked: WorkspaceShare['parked']): Promise<() => void> {
    const limit = new Deadline(
      LIMITS.large_body_wait_ms,
      () => new HttpError('overloaded', 'too many large requests wait'),
    );
    const turn = this.#turns.acquire(workspaceId, limit.signal); // I1, I2
    const release = await parked(turn).finally(() => limit.stop());
    await nextTurn(); // I1
    return release;
  }
}
