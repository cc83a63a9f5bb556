import type { FileDownloadInput } from '../../browser-pool/contract/sending.js';
import { isProviderUrl } from '../../browser-pool/social/site/provider-url.js';
import type { FieldError } from '../../storage/model/errors.js';
import type { InputContext } from './capability.js';
import { refuse } from './rules.js';

/** Where the stand-in network keeps its files. */
const DEFAULT_PROVIDER_DOMAINS: readonly string[] = ['social.test'];

/** Which addresses a download may request (contract: "Sending and files"). */
export function refineUrl({ url }: FileDownloadInput, context: InputContext): FieldError[] {
  const domains = context.providerDomains ?? DEFAULT_PROVIDER_DOMAINS;
  return !/\s/.test(url) && URL.canParse(url) && isProviderUrl(domains, new URL(url))
    ? []
    : refuse('$input.url', "an HTTPS address on the provider's domains, without credentials or port");
}
