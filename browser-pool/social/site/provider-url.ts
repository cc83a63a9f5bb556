/**
 * True for an address that a download may request: HTTPS on one of the provider's domains or below it, no credentials, the
 * standard port (contract: "Sending and files"). Checked at submission and again at every redirect (OPS-14).
 */
export function isProviderUrl(domains: readonly string[], address: URL): boolean {
  const { protocol, username, password, port, hostname } = address;
  if (protocol !== 'https:' || username !== '' || password !== '' || port !== '') return false;
  return domains.some((domain) => hostname === domain || hostname.endsWith(`.${domain}`));
}
