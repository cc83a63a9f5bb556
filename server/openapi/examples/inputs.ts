import { CONVERSATION_ID, FILE_CONTENT, HASH_ID } from '../../../actors/capabilities/example-values.js';
import type * as conversations from '../../../browser-pool/contract/conversations.js';
import type * as discovery from '../../../browser-pool/contract/discovery.js';
import type * as identity from '../../../browser-pool/contract/identity.js';
import type * as recruiter from '../../../browser-pool/contract/recruiter.js';
import type * as sending from '../../../browser-pool/contract/sending.js';
import { OWN_HASH_ID } from './values.js';

/** Inputs beside the one that each capability's record shows, so that every field is seen filled in. */

const peopleById: discovery.PeopleFilters = {
  location_id: '101',
  current_company_id: '42',
  past_company_id: '43',
  industry_id: '4',
  network: 'S',
  connection_of: HASH_ID,
  follower_of: HASH_ID,
  profile_language: 'en',
  school_id: '7',
  service_category_id: '5',
  title: 'engineer',
  open_to_volunteer: true,
};
const peopleByName: discovery.PeopleFilters = {
  first_name: 'Grace',
  last_name: 'Hopper',
  company: 'Navy',
  school: 'Yale',
  location_name: 'New York',
  current_company_name: 'Navy',
  past_company_name: 'Analytical Engines',
  industry_name: 'Computing',
  connection_of_name: 'Grace Hopper',
  follower_of_name: 'Grace Hopper',
  school_name: 'Yale',
  service_category_name: 'Consulting',
};
const jobsById: discovery.JobFilters = {
  location_id: '101',
  company_id: '42',
  time_posted_range: 'r86400',
  job_type: 'F',
  sort_by: 'DD',
  commitment: '1',
  distance: '25',
  experience_level: '4',
  function_id: '8',
  industry_id: '4',
  populated_place_geo_id: '101',
  salary_bucket: '3',
  title_id: '9',
  workplace_type: '2',
  apply_with_linkedin: true,
  early_applicant: true,
  in_your_network: true,
};
const jobsByName: discovery.JobFilters = {
  location_name: 'London',
  company_name: 'Analytical Engines',
  function_name: 'Engineering',
  industry_name: 'Computing',
  populated_place_name: 'London',
  title_name: 'Compiler engineer',
};
const jobs: discovery.JobsSearchInput = {
  keywords: 'compiler',
  filters: jobsByName,
  start: 10,
  count: 10,
  decoration_id: 'full',
  job_details_count: 5,
  job_posting_detail_description_start: 0,
  job_posting_detail_description_count: 2,
};
const candidates: recruiter.RecruiterPeopleSearchInput = {
  keywords: 'compiler',
  start: 0,
  count: 25,
  titles: [{ name: 'Engineer', title_id: 9, filter_type: 'must_have', time_scope: 'current' }],
  first_names: ['Grace'],
  last_names: ['Hopper'],
  locations: [{ name: 'New York', filter_type: 'can_have', geo_scope: 'current_or_preferred' }],
  skills: [{ name: 'Compilers', filter_type: 'must_have' }],
  companies: [{ name: 'Navy', filter_type: 'can_have', time_scope: 'past' }],
  schools: ['Yale'],
  industries: ['Computing'],
  current_companies: ['Navy'],
  past_companies: ['Analytical Engines'],
  zip_codes: ['10001'],
  company_sizes: ['B', 'C'],
  job_functions: [8],
  seniorities: [4, 5],
  networks: ['F', 'S'],
  profile_languages: ['en'],
  recently_joined: 2,
  graduation_years: { min: 1928, max: 1934 },
  yoe: { min: 10, max: 40 },
  is_veteran: true,
  distance: 50,
};
const messagesBefore: conversations.MessagesListInput = {
  conversation_urn: `urn:social:conversation:(${OWN_HASH_ID},${CONVERSATION_ID})`,
  delivered_at: 1_790_000_000_000,
  count: 20,
};

/** By the component's name in the document. */
export const INPUTS: Readonly<Record<string, unknown[]>> = {
  PeopleFilters: [peopleById, peopleByName],
  JobFilters: [jobsById, jobsByName],
  JobsSearchInput: [jobs],
  RecruiterPeopleSearchInput: [candidates],
  ConversationsListInput: [
    { cursor: 'Mg', count: 20 },
    { last_activity_at: 1_790_000_000_000 },
  ] satisfies conversations.ConversationsListInput[],
  ConversationsSearchInput: [
    { keywords: 'compiler', first_degree_connections: true, cursor: 'Mg', count: 20 },
  ] satisfies conversations.ConversationsSearchInput[],
  MessagesListInput: [
    messagesBefore,
    { conversation_id: CONVERSATION_ID, cursor: 'Mg', count: 20 },
  ] satisfies conversations.MessagesListInput[],
  CompanyGetInput: [{ company_id: '42' }, { company_name: 'Analytical Engines' }] satisfies identity.CompanyGetInput[],
  MessageSendInput: [
    { conversation_id: CONVERSATION_ID, body: 'Hello Grace', render_content_unions: [FILE_CONTENT] },
  ] satisfies sending.MessageSendInput[],
  AttachmentSendInput: [
    {
      recipient_actor_id: HASH_ID,
      filename: 'notes.txt',
      content_type: 'text/plain',
      data_base64: 'SGVsbG8=',
      body: 'My notes',
    },
  ] satisfies sending.AttachmentSendInput[],
};
