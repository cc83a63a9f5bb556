import { unexpectedAnswer } from '../../failures.js';
import type { Program, ProgramOutcome, ProgramRun } from '../../program.js';
import { Endpoints } from '../access/endpoints.js';
import { isMe, isResolve } from '../site/answers.js';
import type { Site } from '../site/site.js';

/** Programs of the family "identity": who the account is, and whose ids are whose. */
export function identityPrograms(site: Site): [string, Program][] {
  return [
    ['social.identity.get', (run) => getIdentity(run, site)],
    ['social.hash_ids.resolve', (run) => resolveHashIds(run, site)],
  ];
}

/** Contract: social.identity.get. `avatar` only when the account has one. */
async function getIdentity(run: ProgramRun, site: Site): Promise<ProgramOutcome> {
  const endpoints = await Endpoints.open(run, site);
  const { data } = await endpoints.get(site.paths.me, {}, isMe);
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
}

/** Contract: social.hash_ids.resolve. A public id that nobody has maps to null. */
async function resolveHashIds(run: ProgramRun, site: Site): Promise<ProgramOutcome> {
  const { public_ids } = run.input as { public_ids: string[] };
  const asked = [...new Set(public_ids)];
  const endpoints = await Endpoints.open(run, site);
  const { data, missing } = await endpoints.get(site.paths.resolve, { publicIds: asked.join(',') }, isResolve);
  const found = new Map(data.map((member) => [member.publicId, member.hashId]));
  // Every id must be accounted for: one that is neither found nor missing is an answer to something else.
  if (asked.some((publicId) => !found.has(publicId) && !missing.includes(publicId))) throw unexpectedAnswer('answer');
  return { result: { hash_ids: Object.fromEntries(asked.map((publicId) => [publicId, found.get(publicId) ?? null])) } };
}
