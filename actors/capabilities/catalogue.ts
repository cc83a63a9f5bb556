import type { Capability } from './capability.js';
import { conversations } from './conversations.js';
import { discovery } from './discovery.js';
import { identity } from './identity.js';
import { recruiter } from './recruiter.js';
import { sending } from './sending.js';
import { session } from './session.js';

const all = [...session, ...identity, ...discovery, ...recruiter, ...conversations, ...sending];

export type CapabilityName = (typeof all)[number]['name'];

/** Every capability, in the contract's order (contract: "Capabilities"). */
export const capabilities: readonly Capability<CapabilityName>[] = all;

const byName: ReadonlyMap<string, Capability<CapabilityName>> = new Map(
  all.map((capability) => [capability.name, capability]),
);

/** The capability of this name, or undefined when there is none (OPS-12). */
export function capabilityNamed(name: string): Capability | undefined {
  return byName.get(name);
}
