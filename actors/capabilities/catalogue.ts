import type { FieldError } from '../../storage/model/errors.js';
import { conversations } from './conversations.js';
import { discovery } from './discovery.js';
import { fieldError } from './field-errors.js';
import { identity } from './identity.js';
import { recruiter } from './recruiter.js';
import type { CatalogueEntry, InputContext } from './rules.js';
import { sending } from './sending.js';
import { session } from './session.js';

/** Every capability, in the order the specification tells them (contract: "Capabilities"). */
export const capabilities: readonly CatalogueEntry[] = [
  ...session,
  ...identity,
  ...discovery,
  ...recruiter,
  ...conversations,
  ...sending,
];

const byName = new Map(capabilities.map((capability) => [capability.name, capability]));

/** The capability of this name, or undefined when there is none (OPS-12). */
export function capabilityNamed(name: string): CatalogueEntry | undefined {
  return byName.get(name);
}

/** Fields whose value an answer never repeats: message text, file bytes, and addresses that may carry a secret. */
const SECRET = /^\$input\.(?:body|message|render_content_unions|data_base64|url)\b/;

/**
 * Checks an input at submission. Gives one error a fault, with paths like `input.profile_id`; empty means valid.
 * `context` adds what the input alone does not tell; without it the rules that need it are left to the execution.
 */
export function validateInput(capability: CatalogueEntry, input: unknown, context?: InputContext): FieldError[] {
  const validation = capability.validate(input);
  if (validation.success) {
    const errors = capability.refine?.(validation.data, context) ?? [];
    return errors.map(({ path, expected }) => ({ path: path.slice(1), expected }));
  }
  return validation.errors.map((error) =>
    fieldError(error, SECRET.test(error.path) || (error.path === '$input' && capability.sealed)),
  );
}
