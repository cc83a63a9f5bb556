import { availableParallelism } from 'node:os';
import type { VariableName } from '../../../server/start/settings/variables.js';

/** A variable of the service that is worth sweeping, from the smallest setting to the largest. */
export interface Tunable {
  variable: VariableName;
  settings: number[];
}

/** Past twice the cores, threads only take turns. */
const THREADS: Tunable = {
  variable: 'ACTOR_THREADS',
  settings: [1, 2, 3, 4, 6, 8, 12, 16].filter((threads) => threads <= Math.max(2, availableParallelism() * 2)),
};
const CALLBACKS: Tunable = { variable: 'DELIVERY_CONCURRENCY', settings: [16, 32, 64, 128, 256, 512] };

/** What decides the rate of each scenario that can be tuned by. */
export const TUNABLES: Record<string, Tunable[]> = {
  submit: [THREADS],
  'end-to-end': [THREADS],
  poll: [THREADS],
  deliveries: [CALLBACKS, THREADS],
};
