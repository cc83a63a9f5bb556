import type { FieldError } from '../../storage/model/errors.js';
import type { Capability } from './capability.js';

/** What a rule may need to know beside the input itself. */
export interface InputContext {
  /** Hash id of the connection's own account, when it is known: `conversation_urn` must name it. */
  ownActor?: string | null;
  /** Domains that `file.download` may reach, subdomains included. */
  providerDomains?: readonly string[];
}

/** A record of the catalogue: the contract, with rules that may look at the context. */
export interface CatalogueEntry extends Capability {
  refine?: (input: Record<string, unknown>, context?: InputContext) => FieldError[];
}

/** One field error as a list, for rules that are a chain of conditions. */
export function refuse(path: string, expected: string): FieldError[] {
  return [{ path, expected }];
}

/** The names of `keys` that the input holds. */
function given(input: Record<string, unknown>, keys: readonly string[]): string[] {
  return keys.filter((key) => input[key] !== undefined);
}

/** Exactly one of the keys must be there. */
export function exactlyOne(input: Record<string, unknown>, keys: readonly string[]): FieldError[] {
  return given(input, keys).length === 1 ? [] : refuse('$input', `exactly one of ${keys.join(', ')}`);
}

/** At most one of the keys may be there. */
export function atMostOne(input: Record<string, unknown>, keys: readonly string[]): FieldError[] {
  return given(input, keys).length <= 1 ? [] : refuse('$input', `at most one of ${keys.join(', ')}`);
}

/**
 * True when a value says something: text that is not blank, a list or object that is not empty, any number or
 * boolean. What says nothing is no criterion of a search.
 */
export function hasContent(value: unknown): boolean {
  if (typeof value === 'string') return value.trim() !== '';
  if (value === null || value === undefined) return false;
  if (Array.isArray(value)) return value.length > 0;
  return typeof value === 'object' ? Object.values(value).some(hasContent) : true;
}
