/**
 * The names whose values are withheld, and where: `logs` redact the field, `answers` do not repeat the value in a field
 * error, `settings` do not show the variable's value when it cannot be used. One list, so that a new secret is named once.
 */
type Place = 'logs' | 'answers' | 'settings';

const WITHHELD = {
  password: ['logs', 'answers'],
  username: ['logs', 'answers'],
  search: ['answers'], // of connections, by their usernames
  secret: ['logs', 'answers'],
  code: ['logs', 'answers'],
  body: ['logs', 'answers'],
  data_base64: ['logs', 'answers'],
  render_content_unions: ['logs', 'answers'],
  authorization: ['logs', 'answers'],
  credentials: ['logs', 'answers'],
  session: ['logs', 'answers'],
  cookies: ['logs', 'answers'],
  cookie: ['logs', 'answers'],
  token: ['logs', 'answers'],
  page: ['logs', 'answers'],
  idempotency_key: ['logs'],
  key: ['logs', 'answers'],
  // In a log line these are the text of an error, its details and the service's own addresses.
  message: ['answers'],
  data: ['answers'],
  url: ['answers'],
  DATABASE_URL: ['settings'],
  ENCRYPTION_KEYS: ['settings'],
  GATEWAY_CLIENT_ID: ['settings'],
  GATEWAY_CLIENT_SECRET: ['settings'],
  OTEL_EXPORTER_OTLP_ENDPOINT: ['settings'],
  OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: ['settings'],
} as const satisfies Record<string, readonly Place[]>;

/** The names that are withheld at one place. */
export function secretNames(place: Place): string[] {
  return Object.entries<readonly Place[]>(WITHHELD).flatMap(([name, places]) => (places.includes(place) ? [name] : []));
}

const IN_ANSWERS: ReadonlySet<string> = new Set(secretNames('answers'));

/** True when a part of the path, as typia writes it (`$input.items[0].body`), names a value that no answer repeats. */
export function isSecretPath(path: string): boolean {
  return path.split(/[.[\]]/).some((part) => IN_ANSWERS.has(part));
}
