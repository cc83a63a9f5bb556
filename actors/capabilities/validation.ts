import type { FieldError } from '../../storage/model/errors.js';
import { validated } from '../../storage/model/examined.js';
import { fieldError } from '../../storage/model/field-errors.js';
import type { Capability, InputContext } from './capability.js';

/**
 * Checks an input at submission. Gives one error a fault, with paths like `input.profile_id`; empty means valid.
 * Rules that need what `context` leaves out are left to the execution.
 */
export function validateInput(capability: Capability, input: unknown, context: InputContext = {}): FieldError[] {
  const validation = validated(capability.validate, input);
  if (validation.success) {
    const errors = capability.refine?.(validation.data, context) ?? [];
    return errors.map(({ path, expected }) => ({ path: path.slice(1), expected }));
  }
  return validation.errors.map((error) =>
    fieldError(error, { root: 'input', secret: isSecret(capability, error.path) }),
  );
}

/** True for a path whose value an error never repeats. */
function isSecret({ sealed, secretInputs }: Capability, path: string): boolean {
  if (path === '$input') return sealed;
  const [, field = ''] = /^\$input\.(\w+)/.exec(path) ?? [];
  return secretInputs.has(field);
}
