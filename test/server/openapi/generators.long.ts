import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import openapiTypes, { astToString } from 'openapi-typescript';
import t from 'tap';
import ts from 'typescript';
import { buildDocument } from '../../../server/openapi/document.js';
import { routes } from '../../../server/table.js';

/** What is generated from the reference compiles under `strict`, and its types narrow as far as the service promises. */

const IMPORTS = `
  import type { components } from './api.js';
  type Operation = components['schemas']['Operation'];
  type Event = components['schemas']['Event'];
  type Input = components['schemas']['OperationInput'];`;

/** What a customer writes, without a cast. A line that must not compile says so, and one that does is a mistake as well. */
const NARROWING = `
export function told(operation: Operation): unknown {
  switch (operation.status) {
    case 'succeeded':
      // @ts-expect-error: which result it is is not known yet
      operation.result.people;
      if (operation.capability === 'social.people.search') return operation.result.people.map(({ name }) => name satisfies string | null);
      if (operation.capability === 'social.login') return operation.result.reason satisfies 'login_succeeded';
      return operation.result.state_revision satisfies number;
    case 'failed':
      return [operation.error_code satisfies 'upstream_error' | string, operation.error_details.retryable satisfies boolean, operation.result satisfies null];
    case 'waiting_user':
      return operation.challenge.kind satisfies 'email' | 'sms' | 'authenticator' | 'approval' | 'captcha';
    case 'outcome_unknown':
      return operation.evidence.request.sent satisfies 'yes' | 'partly' | 'unknown';
    case 'skipped':
      return operation.result.reason satisfies 'already_connected' | 'invitation_pending' | 'self_target';
    case 'queued':
    case 'running':
    case 'canceled':
      // @ts-expect-error: only an operation of unknown outcome has evidence
      operation.evidence.request;
      return operation.result satisfies null;
    default:
      return operation satisfies never;
  }
}

export function shown(event: Event): unknown {
  switch (event.type) {
    case 'message_received':
    case 'message_sent':
      // @ts-expect-error: a message has no sponsor
      event.data.sponsor;
      return event.data.message_body satisfies string | null | undefined;
    case 'sponsored_inmail_received':
      return event.data.sponsor satisfies string | null | undefined;
    case 'custom_connection_request_accepted':
      return event.data.accepted_at satisfies number | null | undefined;
    case 'connection.stream_degraded':
    case 'connection.stream_restored':
      return event.data.gap_id satisfies string | undefined;
    case 'connection.needs_login':
    case 'connection.invalid':
    case 'connection.ready':
      return event.data.reason satisfies string | null | undefined;
    case 'operation.waiting_user':
      return event.data.challenge?.accepts_code satisfies boolean | undefined;
    case 'operation.finished':
      return event.data.operation_id satisfies string | undefined;
    case 'delivery.exhausted':
      return event.data.attempt_count satisfies number | undefined;
    case 'subscription.test':
      return event.data.subscription_id satisfies string;
    default:
      return event satisfies never;
  }
}

export const search: Input = { capability: 'social.people.search', input: { keywords: 'engineer', count: 5 } };
// @ts-expect-error: the input of another capability
export const misplaced: Input = { capability: 'social.people.search', input: { profile_id: 'grace-hopper' } };
`;

t.test('the types that a generator makes compile under strict, and narrow', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'generated-types-'));
  t.teardown(() => rm(folder, { recursive: true, force: true }));
  const source = JSON.stringify(buildDocument(routes, false));
  await writeFile(join(folder, 'api.ts'), astToString(await openapiTypes(source, { silent: true })));
  const story = join(folder, 'story.ts');
  await writeFile(story, IMPORTS + NARROWING);
  t.same(typeErrors([story]), []);
});

function typeErrors(files: string[]): string[] {
  const program = ts.createProgram(files, {
    noEmit: true,
    strict: true,
    skipLibCheck: true,
    target: ts.ScriptTarget.ES2024,
    module: ts.ModuleKind.ESNext,
    moduleResolution: ts.ModuleResolutionKind.Bundler,
    lib: ['lib.es2024.d.ts', 'lib.dom.d.ts', 'lib.dom.iterable.d.ts'],
    types: [],
  });
  return ts.getPreEmitDiagnostics(program).map(({ file, messageText, start }) => {
    const line = file && start !== undefined ? file.getLineAndCharacterOfPosition(start).line + 1 : 0;
    return `${file?.fileName}:${line} ${ts.flattenDiagnosticMessageText(messageText, '\n')}`;
  });
}
