import { isProviderUrl } from '../../browser-pool/social/site/provider-url.js';
import type { FieldError } from '../../storage/model/errors.js';
import { type InputContext, refuse } from './rules.js';

/** Where the stand-in network keeps its files. */
const DEFAULT_PROVIDER_DOMAINS: readonly string[] = ['social.test'];

export function refineUrl(input: Record<string, unknown>, context: InputContext = {}): FieldError[] {
  const text = String(input.url);
  const domains = context.providerDomains ?? DEFAULT_PROVIDER_DOMAINS;
  return !/\s/.test(text) && URL.canParse(text) && isProviderUrl(domains, new URL(text))
    ? []
    : refuse('$input.url', "an HTTPS address on the provider's domains, without credentials or port");
}
