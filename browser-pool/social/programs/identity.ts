import type { GetIdentity, ResolveHashIds } from '../../contract/identity.js';
import { unexpectedAnswer } from '../../failures.js';
import { Endpoints } from '../access/endpoints.js';
import { isMe, isResolve } from '../site/answers.js';
import { defineProgram } from './define.js';

/** Contract: social.identity.get. `avatar` only when the account has one. */
const getIdentity = defineProgram<GetIdentity>('social.identity.get', async (run, site) => {
  const endpoints = await Endpoints.open(run, site);
  const { data } = await endpoints.get('me', {}, isMe);
  return {
    result: {
      actor_id: data.hashId,
      hash_id: data.hashId,
      public_id: data.publicId,
      member_id: data.memberId,
      firstName: data.firstName,
      lastname: data.lastName,
      headline: data.headline,
      ...(data.pictureUrl !== null && { avatar: data.pictureUrl }),
    },
  };
});

/** Contract: social.hash_ids.resolve. A public id without a member maps to null. */
const resolveHashIds = defineProgram<ResolveHashIds>('social.hash_ids.resolve', async (run, site) => {
  const asked = [...new Set<string>(run.input.public_ids)];
  const endpoints = await Endpoints.open(run, site);
  const { data, missing } = await endpoints.get('resolve', { publicIds: asked }, isResolve);
  const found = new Map(data.map((member) => [member.publicId, member.hashId]));
  // Every id must be accounted for: one that is neither found nor missing is an answer to something else.
  if (asked.some((publicId) => !found.has(publicId) && !missing.includes(publicId))) throw unexpectedAnswer('answer');
  return { result: { hash_ids: Object.fromEntries(asked.map((publicId) => [publicId, found.get(publicId) ?? null])) } };
});

/** Who the account is, and whose ids are whose. */
export const identityPrograms = [getIdentity, resolveHashIds] as const;
