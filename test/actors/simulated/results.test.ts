import t from 'tap';
import type { Capability } from '../../../actors/capabilities/capability.js';
import { capabilities } from '../../../actors/capabilities/catalogue.js';
import { validateInput } from '../../../actors/capabilities/validation.js';
import { createSimulatedProvider } from '../../../actors/providers/simulated.js';
import { freshDatabase } from '../../fixture/database.js';
import { insertSimulated, insertWorkspace } from '../../fixture/rows.js';
import { schemaChecks } from '../../server/openapi/openapi-schemas.js';
import { connectionRow, succeed } from './request.js';

/** The fields that the contract names in a result, for an input beside the record's own example. */
const ASKED: Record<string, [input: Record<string, unknown>, fields: string]> = {
  'social.login': [{}, 'reason'],
  'social.health.check': [{}, 'health actor_id'],
  'social.recruiter.switch': [{ contract: 'Talent' }, 'contract recruiter_ready'],
  'social.identity.get': [{}, 'actor_id hash_id public_id member_id firstName lastname headline'],
  'social.profile.get': [{ profile_id: 'jane-doe' }, 'profile'],
  'social.hash_ids.resolve': [{ public_ids: ['jane-doe', 'a.b', '__proto__'] }, 'hash_ids'],
  'social.connections.list': [{}, 'connections'],
  'social.company.get': [{ company_name: 'Acme Robotics' }, 'company'],
  'social.invitations.sent.list': [
    { include_total: true },
    'entries count start_index has_more next_start_index total',
  ],
  'social.typeahead': [{ kind: 'company', keyword: 'a' }, 'kind items'],
  'social.people.search': [{ keywords: 'engineer' }, 'people start'],
  'social.jobs.search': [{ keywords: 'engineer', job_details_count: 2 }, 'jobs start'],
  'social.recruiter.typeahead': [{ kind: 'zip', keyword: '1' }, 'kind items'],
  'social.recruiter.people.search': [
    { titles: ['engineer'] },
    'candidates paging total formatted_total facets query_summary highlight_terms',
  ],
  'social.conversations.list': [{}, 'conversations next_cursor'],
  'social.conversations.search': [{ keywords: 'a' }, 'conversations next_cursor'],
  'social.conversation.with_recipient': [{ recipient_actor_id: 'SIM_jane' }, 'conversation'],
  'social.messages.list': [{ conversation_id: '2-SIM_jane' }, 'messages'],
  'social.message.send': [
    { recipient_actor_id: 'SIM_jane', body: 'hello' },
    'provider_acknowledged destination message_id',
  ],
  'social.invitation.send': [
    { recipient_actor_id: 'SIM_jane' },
    'recipient_actor_id code message provider_acknowledged',
  ],
  'social.attachment.send': [
    { conversation_id: '2-SIM_jane', filename: 'a.txt', content_type: 'text/plain', data_base64: 'aGVsbG8=' },
    'provider_acknowledged destination message_id',
  ],
  'social.file.download': [{ url: 'https://files.social.test/report.pdf' }, 'content_type data_base64 size'],
};

/** The rows inside some results, with the fields of the contract. */
const ROWS: Record<string, string> = {
  people:
    'member_id hash_id public_id member_distance name headline summary location profile_url insights badgeHoverText',
  jobs: 'job_id job_title job_url job_company job_insight job_location easy_apply reposted_at',
  connections: 'hash_id public_id first_name last_name headline avatar connected_at',
  conversations: 'conversation_id participants unread_count last_activity_at',
  entries: 'invitation_id',
  items: 'id name',
};
const PROFILE = `source member_id hash_id public_id first_name last_name headline profile_picture industry location
  public_profile_url email address phone_numbers network_distance has_pending_connection_request connected_at about
  experience education`;
const COMPANY = `public_id company_id name tagline description url website employee_count employee_count_range founded_year
  industries industry specialties headquarter locations logo_url`;

const lacking = (value: unknown, fields: string) =>
  fields.split(/\s+/).filter((field) => field !== '' && (value as Record<string, unknown>)[field] === undefined);

/** The faults of a value that is not exactly of the record's result type: what is missing, wrong or unknown. */
function resultFaults({ schemas }: Capability, value: object): unknown {
  const document = JSON.parse(JSON.stringify({ components: schemas.components }), (_, node) =>
    node?.type === 'object' && node.properties && node.additionalProperties === undefined
      ? { ...node, additionalProperties: false }
      : node,
  );
  const [, result] = schemas.schemas as { $ref?: string }[];
  const valid = schemaChecks(document, ['x-names-person'])(result?.$ref?.slice(1) ?? '');
  return valid(value) ? [] : valid.errors;
}

t.test('a result with an unknown field is not of its type', async (t) => {
  const [login] = capabilities;
  const { result } = login!.example;
  t.strictSame(resultFaults(login!, result), []);
  t.not(resultFaults(login!, { ...result, surprise: 1 }), []);
  t.match(resultFaults(login!, { ...result, surprise: 1 }), [{ params: { additionalProperty: 'surprise' } }]);
});

t.test('every capability answers with what the contract lists', async (t) => {
  const { db } = await freshDatabase(t);
  const workspaceId = await insertWorkspace(db);
  const { id } = await insertSimulated(db, workspaceId, 'ada');
  const ada = connectionRow('ada', { id, workspaceId });
  const provider = createSimulatedProvider({ db });
  const all: Record<string, Record<string, unknown>> = {};
  for (const capability of capabilities) {
    const { example } = capability;
    const answered = await succeed(provider, ada, capability.name, example.input);
    t.strictSame(resultFaults(capability, { ...answered, state_revision: 0 }), [], `${capability.name}'s example`);
    const [input, fields] = ASKED[capability.name] ?? [example.input, ''];
    t.strictSame(validateInput(capability, input), [], capability.name);
    const result = await succeed(provider, ada, capability.name, input);
    t.strictSame(lacking(result, fields), [], `${capability.name} lacks nothing`);
    t.notOk('state_revision' in result, 'the actor adds that');
    for (const [list, rowFields] of Object.entries(ROWS)) {
      if (list in result) t.strictSame(lacking((result[list] as unknown[])[0], rowFields), [], `rows of ${list}`);
    }
    t.strictSame(JSON.parse(JSON.stringify(result)), result, `${capability.name} is plain JSON`);
    t.strictSame(resultFaults(capability, { ...result, state_revision: 0 }), [], `${capability.name} is of its type`);
    all[capability.name] = result;
  }
  t.strictSame(lacking(all['social.profile.get']?.profile, PROFILE), []);
  t.strictSame(lacking(all['social.company.get']?.company, COMPANY), []);
});
