import type { CapabilityName } from '../../../../../actors/capabilities/catalogue.js';

/** Every capability by its name: one that is new does not compile until it is here. */
const NAMES: Readonly<Record<CapabilityName, true>> = {
  'social.attachment.send': true,
  'social.company.get': true,
  'social.connections.list': true,
  'social.conversation.with_recipient': true,
  'social.conversations.list': true,
  'social.conversations.search': true,
  'social.file.download': true,
  'social.hash_ids.resolve': true,
  'social.health.check': true,
  'social.identity.get': true,
  'social.invitation.send': true,
  'social.invitations.sent.list': true,
  'social.jobs.search': true,
  'social.login': true,
  'social.message.send': true,
  'social.messages.list': true,
  'social.people.search': true,
  'social.profile.get': true,
  'social.recruiter.people.search': true,
  'social.recruiter.switch': true,
  'social.recruiter.typeahead': true,
  'social.typeahead': true,
};

export const CAPABILITIES = Object.keys(NAMES);
