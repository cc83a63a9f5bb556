import type { IValidation } from 'typia';
import type { FieldError } from '../../storage/errors.js';
import type { Capability } from './capability.js';
import { conversations } from './conversations.js';
import { discovery } from './discovery.js';
import type { CatalogueEntry, InputContext } from './entry.js';
import { identity } from './identity.js';
import { recruiter } from './recruiter.js';
import { sending } from './sending.js';
import { session } from './session.js';

/** Every capability, in the order the specification tells them (spec: "Capabilities"). */
export const capabilities: readonly CatalogueEntry[] = [
  ...session,
  ...identity,
  ...discovery,
  ...recruiter,
  ...conversations,
  ...sending,
];

const byName = new Map(capabilities.map((capability) => [capability.name, capability]));

/** The capability of this name, or undefined when there is none (decision O12). */
export function capabilityNamed(name: string): CatalogueEntry | undefined {
  return byName.get(name);
}

/** Fields whose value an answer never repeats: message text, file bytes, and addresses that may carry a secret. */
const SECRET = /^\$input\.(?:body|message|render_content_unions|data_base64|url)\b/;
const ECHOED_CHARACTERS = 100;

/**
 * Checks an input at submission. Gives one error a fault, with paths like `input.profile_id`; empty means valid.
 * `context` adds what the input alone does not tell; without it the rules that need it are left to the execution.
 */
export function validateInput(
  capability: Capability & Pick<CatalogueEntry, 'refine'>,
  input: unknown,
  context?: InputContext,
): FieldError[] {
  const validation = capability.validate(input);
  if (!validation.success) return validation.errors.map((error) => describe(capability, error));
  return (capability.refine?.(validation.data, context) ?? []).map(({ path, expected }) => ({
    path: path.slice(1),
    expected,
  }));
}

function describe(capability: Capability, { path, expected, value }: IValidation.IError): FieldError {
  const unknownKey = expected === 'undefined';
  const error: FieldError = {
    path: path.slice(1),
    expected: unknownKey ? 'no such field' : path === '$input' ? 'an object' : readable(expected),
  };
  const secret = SECRET.test(path) || unknownKey || (path === '$input' && capability.sealed);
  if (!secret && isShort(value)) error.value = value;
  return error;
}

/** A union without what typia adds for optional fields and for grouping. */
function readable(expected: string): string {
  return expected
    .replace(/^\((.*)\)$/, '$1')
    .replace(/ \| undefined$/, '')
    .replace(/^\((.*)\)$/, '$1');
}

function isShort(value: unknown): boolean {
  return typeof value === 'string' ? value.length <= ECHOED_CHARACTERS : typeof value !== 'object' || value === null;
}
