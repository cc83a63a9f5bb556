import type { FileDownloadInput } from '../../browser-pool/contract/sending.js';
import { isProviderUrl } from '../../browser-pool/social/site/provider-url.js';
import { STAND_IN_DOMAINS } from '../../browser-pool/social/site/stand-in.js';
import type { FieldError } from '../../storage/model/errors.js';
import type { InputContext } from './capability.js';
import { refuse } from './rules.js';

/** Which addresses a download may request (contract: "Sending and files"). */
export function refineUrl({ url }: FileDownloadInput, context: InputContext): FieldError[] {
  const domains = context.providerDomains ?? STAND_IN_DOMAINS;
  return !/\s/.test(url) && URL.canParse(url) && isProviderUrl(domains, new URL(url))
    ? []
    : refuse('$input.url', "an HTTPS address on the provider's domains, without credentials or port");
}
