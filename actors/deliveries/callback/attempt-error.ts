/**
 * Why an attempt failed, as it is stored in `error` and counted:
 *
 * | `dns` | the host's name has no address now that may be called (EVT-2) |
 * | `blocked` | the callback may not be called: its URL, the address in it, or its port (EVT-2) |
 * | `refused` | the port is closed |
 * | `unreachable` | no route leads to the address |
 * | `tls` | no encrypted connection, or the certificate does not prove the host |
 * | `timeout` | the exchange was not over at the deadline |
 * | `status` | the answer's status is not 2xx; a redirect counts here |
 * | `reset` | the connection was closed before the answer was complete |
 * | `protocol` | the answer is not HTTP |
 * | `secret` | the subscription's secret cannot be decrypted, so nothing was sent |
 * | `internal` | this service failed, not the receiver |
 */
export const ATTEMPT_ERRORS = [
  'dns',
  'blocked',
  'refused',
  'unreachable',
  'tls',
  'timeout',
  'status',
  'reset',
  'protocol',
  'secret',
  'internal',
] as const;
export type AttemptError = (typeof ATTEMPT_ERRORS)[number];

const CLASS_BY_CODE: Record<string, AttemptError> = {
  ECONNREFUSED: 'refused',
  EHOSTUNREACH: 'unreachable',
  ENETUNREACH: 'unreachable',
  EHOSTDOWN: 'unreachable',
  ENETDOWN: 'unreachable',
  EADDRNOTAVAIL: 'unreachable',
  EACCES: 'unreachable',
  EPERM: 'unreachable',
  ETIMEDOUT: 'timeout',
  UND_ERR_CONNECT_TIMEOUT: 'timeout',
  UND_ERR_HEADERS_TIMEOUT: 'timeout',
  UND_ERR_BODY_TIMEOUT: 'timeout',
  ECONNRESET: 'reset',
  ECONNABORTED: 'reset',
  EPIPE: 'reset',
  UND_ERR_SOCKET: 'reset',
  UND_ERR_INFO: 'reset',
  UND_ERR_HEADERS_OVERFLOW: 'protocol',
  UND_ERR_RES_CONTENT_LENGTH_MISMATCH: 'protocol',
  // Results of OpenSSL's certificate verification, under the names Node gives them.
  CERT_HAS_EXPIRED: 'tls',
  CERT_NOT_YET_VALID: 'tls',
  CERT_REVOKED: 'tls',
  CERT_UNTRUSTED: 'tls',
  CERT_REJECTED: 'tls',
  CERT_SIGNATURE_FAILURE: 'tls',
  CERT_CHAIN_TOO_LONG: 'tls',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'tls',
  SELF_SIGNED_CERT_IN_CHAIN: 'tls',
  UNABLE_TO_GET_ISSUER_CERT: 'tls',
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: 'tls',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'tls',
  INVALID_CA: 'tls',
  INVALID_PURPOSE: 'tls',
  HOSTNAME_MISMATCH: 'tls',
  UNSPECIFIED: 'tls',
  EPROTO: 'tls',
};

/** Returns the class of an error of undici, TLS or the socket. If several addresses were tried, that of the first. */
export function classify(error: unknown): AttemptError {
  const code = (error as NodeJS.ErrnoException | null)?.code;
  const known = code === undefined ? undefined : CLASS_BY_CODE[code];
  if (known) return known;
  if (code?.startsWith('ERR_TLS') || code?.startsWith('ERR_SSL')) return 'tls';
  if (error instanceof Error && error.name === 'HTTPParserError') return 'protocol'; // of the HTTP client
  if (error instanceof AggregateError && error.errors.length > 0) return classify(error.errors[0]);
  return 'internal';
}
