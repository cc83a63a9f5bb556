/** What the examples share, so that they fit together: each id means one thing, and moments follow each other. */

export const CONNECTION = '01998000-0000-7000-8000-000000000001';
export const OPERATION = '01998000-0000-7000-8000-000000000002';
export const SUBSCRIPTION = '01998000-0000-7000-8000-000000000003';
export const EVENT = '01998000-0000-7000-8000-000000000004';
export const DELIVERY = '01998000-0000-7000-8000-000000000005';
export const ATTEMPT = '01998000-0000-7000-8000-000000000006';
export const CHALLENGE = '01998000-0000-7000-8000-000000000007';
export const NODE = '01998000-0000-7000-8000-000000000008';
export const PROXY = '01998000-0000-7000-8000-000000000009';
export const GAP = '01998000-0000-7000-8000-00000000000a';
export const WORKSPACE = '01998000-0000-7000-8000-00000000000b';
export const KEY = '01998000-0000-7000-8000-00000000000c';
export const OPERATOR_ID = '01998000-0000-7000-8000-00000000000d';
export const NEXT_KEY = '01998000-0000-7000-8000-00000000000e';
export const REQUEST = 'a-request';
export const IDEMPOTENCY_KEY = 'a-key-of-your-own';
/** Of the account that the connection is of. */
export const USERNAME = 'ada@example.com';
/** What the client calls the connection. */
export const REFERENCE = 'customer-4711';
/** What is shown of the username. */
export const HINT = 'a•••@example.com';
export const OWN_HASH_ID = 'ACoAAAda1';
/** Of nothing: it only shows what a secret looks like. */
export const SECRET = 'a-signing-secret-of-32-characters';

/** What is submitted, recorded or created, happens then; */
export const AT = '2026-01-01T12:00:00.000Z';
/** it begins then, */
export const BEGUN = '2026-01-01T12:00:00.250Z';
/** sends something then, */
export const SENT = '2026-01-01T12:00:00.500Z';
/** and ends then; */
export const LATER = '2026-01-01T12:00:01.250Z';
/** somebody looks at it again then. */
export const LATEST = '2026-01-01T12:00:30.000Z';
/** What expires, expires then. */
export const EXPIRY = '2026-01-01T12:10:01.250Z';
export const TOMORROW = '2026-01-02T12:00:00.000Z';
