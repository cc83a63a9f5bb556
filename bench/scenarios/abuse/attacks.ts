import type { Attack } from './attack.js';
import { amplification, silentCallbacks } from './attacks/callbacks.js';
import { events } from './attacks/events.js';
import { distinct, fieldErrors, large, larger } from './attacks/inputs.js';
import { fixedBodies, fixedHeads, links, probes, slowReaders } from './attacks/keyless.js';
import { lists, wholeList } from './attacks/lists.js';
import { logins } from './attacks/logins.js';
import { bodies, heads, idle, keys, methods } from './attacks/strangers.js';
import { submits, submitsToOne } from './attacks/submits.js';
import { waits } from './attacks/waits.js';

/** Every attack, in the order in which they are tried. */
export const ATTACKS: readonly Attack[] = [
  ...[submits, submitsToOne, waits, lists, wholeList, silentCallbacks, amplification, logins, large, larger, events],
  ...[distinct, fieldErrors, bodies, keys, methods, heads, idle],
  ...[fixedHeads, fixedBodies, slowReaders, links, probes],
];

export function attackNamed(name: string): Attack | undefined {
  return ATTACKS.find((attack) => attack.name === name);
}
