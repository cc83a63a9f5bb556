import { careerOf } from '../data/career.js';
import { wordsOf } from '../data/directory.js';
import type { Member } from '../data/members.js';
import { fingerprint } from '../data/seeded-random.js';
import { type Answer, badRequest, json } from '../http/answer.js';
import type { Exchange } from '../http/exchange.js';
import { LIMITS } from '../limits.js';
import type { State } from '../state/state.js';
import { profileView } from './profiles.js';
import { type Candidate, networkOf, recruiterFilters } from './recruiter-filters.js';
import { validateRecruiterSearch } from './recruiter-request.js';

/** Answers a recruiter search. */
export function searchCandidates(state: State, exchange: Exchange): Answer {
  const asked = exchange.json(validateRecruiterSearch);
  const { start = 0, count = LIMITS.recruiter_default_rows, keywords, ...others } = asked;
  const words = wordsOf(keywords ?? '');
  if (keywords === undefined && Object.keys(others).length === 0) throw badRequest('Give keywords or a filter.');

  const viewer = exchange.viewer.member;
  const filters = recruiterFilters(state, viewer, asked);
  const found = state.directory
    .withWords(words)
    .map((member): Candidate => ({ member, career: careerOf(member) }))
    .filter((candidate) => filters.every((filter) => filter(candidate)));

  const summary = [...(keywords === undefined ? [] : [`keywords: ${keywords}`]), ...Object.keys(others)];
  return json({
    data: found.slice(start, start + count).map((candidate) => candidateView(state, viewer, candidate)),
    paging: { start, count, total: found.length },
    formattedTotal: found.length < 1_000 ? String(found.length) : `${(found.length / 1_000).toFixed(1)}K`,
    facets: [{ name: 'networks', values: networkCounts(state, viewer, found) }],
    querySummary: summary.join(', '),
    highlightTerms: words,
  });
}

const NETWORKS = { F: '1st', S: '2nd', A: 'Group members', O: '3rd and others' } as const;

function networkCounts(state: State, viewer: Member, found: readonly Candidate[]): Record<string, unknown>[] {
  const counts = { F: 0, S: 0, A: 0, O: 0 };
  for (const { member } of found) counts[networkOf(state, viewer, member)] += 1;
  return Object.entries(NETWORKS).map(([id, text]) => ({ id, text, count: counts[id as keyof typeof NETWORKS] }));
}

function candidateView(state: State, viewer: Member, { member, career }: Candidate): Record<string, unknown> {
  const hidden = fingerprint(`hidden\u0000${member.hashId}`) % 9 === 0;
  const { hashId, publicId, contact: _, ...profile } = profileView(state, viewer, member);
  return {
    ...profile,
    hashId: hidden ? null : hashId,
    publicId: hidden ? null : publicId,
    profileUrl: hidden ? null : profile.profileUrl,
    contact: { email: null, address: null, phoneNumbers: [] },
    recruiting: {
      candidateId: `cand-${member.memberId}`,
      openToWork: career.openToWork,
      yearsOfExperience: career.yearsOfExperience,
      seniority: career.seniority,
      jobFunction: career.jobFunction,
      lastActiveAt: career.openToWork ? Date.UTC(2025, 0, 1) : null,
    },
  };
}
