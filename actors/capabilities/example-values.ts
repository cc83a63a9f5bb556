/** Values that the examples of several records share: they fit together. */

export const HASH_ID = 'ACoAAGrace1';
export const CONVERSATION_ID = '2-Y29udmVyc2F0aW9u';
export const CONVERSATION = {
  conversation_id: CONVERSATION_ID,
  participants: [HASH_ID],
  unread_count: 1,
  last_activity_at: 1_790_000_000_000,
};
/** A file as rich content. */
export const FILE_CONTENT = { type: 'file', filename: 'notes.txt', content_type: 'text/plain', size: 5 };
const EXPERIENCE = {
  title: 'Rear Admiral',
  company: 'Navy',
  location: 'Arlington',
  start_date: '1943-12',
  end_date: null,
  description: null,
};
const EDUCATION = { school: 'Yale', degree: 'PhD', major: 'Mathematics', start_date: '1930', end_date: '1934' };
export const PERSON = {
  member_id: '1906',
  public_id: 'grace-hopper',
  first_name: 'Grace',
  last_name: 'Hopper',
  headline: 'Compiler author',
  profile_picture: null,
  industry: 'Computing',
  location: 'New York',
  public_profile_url: 'https://www.social.test/in/grace-hopper',
  email: null,
  address: null,
  phone_numbers: [],
  network_distance: 2,
  has_pending_connection_request: false,
  connected_at: null,
  about: null,
  experience: [EXPERIENCE],
  education: [EDUCATION],
};
