import type { FieldError } from '../../storage/errors.js';
import { type InputContext, refuse } from './entry.js';

/** Where the stand-in network keeps its files. */
export const DEFAULT_PROVIDER_DOMAINS: readonly string[] = ['social.test'];

/**
 * True for an address that `file.download` may ask: HTTPS on one of the provider's domains or below it, no
 * credentials, the standard port (spec: "Sending and files"). To be asked again at every redirect (decision O14).
 */
export function isProviderFileUrl(text: string, domains: readonly string[] = DEFAULT_PROVIDER_DOMAINS): boolean {
  if (/\s/.test(text) || !URL.canParse(text)) return false;
  const url = new URL(text);
  if (url.protocol !== 'https:' || url.username !== '' || url.password !== '' || url.port !== '') return false;
  return domains.some((domain) => url.hostname === domain || url.hostname.endsWith(`.${domain}`));
}

export function refineUrl(input: Record<string, unknown>, context: InputContext = {}): FieldError[] {
  return isProviderFileUrl(String(input.url), context.providerDomains)
    ? []
    : refuse('$input.url', "an HTTPS address on the provider's domains, without credentials or port");
}
