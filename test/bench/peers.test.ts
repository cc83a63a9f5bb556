import { execFile } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import t from 'tap';
import { describePerson, personBySlug } from '../../actors/simulated/people.js';
import { type FiguresByName, goalsOf, mediansOf } from '../../bench/peers/figures.js';

const ROOT = join(import.meta.dirname, '../../..');
const PROGRAMS = join(ROOT, 'bench/peers/programs');

const FIGURES: FiguresByName = {
  'ours read': { submit_per_s: 1_200, ended_per_s: 1_500, poll_per_s: 5_000, server_us: 100, store_us: 50 },
  'ours write': { submit_per_s: 900, ended_per_s: 999, server_us: 200, store_us: 61 },
  'pg-boss': { poll_per_s: 2_000 },
  bullmq: { submit_per_s: 1_201, ended_per_s: 1_000 },
  insert: { submit_per_s: 1_000 },
};

t.test('each goal is a ratio or a cost of the figures, and is met at its bound', async (t) => {
  t.same(
    goalsOf([FIGURES]).map(({ measured, met }) => [measured, met]),
    [
      [1_200 / 1_201, false],
      [1.2, true],
      [1.5, true],
      [0.999, false],
      [2.5, true],
      [150, true],
      [261, false],
    ],
  );
});

t.test('of what was not measured no goal is told', async (t) => {
  const { 'ours read': read = {}, bullmq = {} } = FIGURES;
  const { store_us: _, ...withoutStore } = read;
  t.same(
    goalsOf([{ 'ours read': withoutStore, bullmq }]).map(({ goal }) => goal),
    ['submissions for each of BullMQ, at least 1.0', 'reads ended for each job of BullMQ, at least 1.5'],
  );
  t.same(goalsOf([{ bullmq }]), []);
});

t.test('a ratio is taken within a round', async (t) => {
  const round = (ours: number, bullmq: number): FiguresByName => ({
    'ours read': { submit_per_s: ours },
    bullmq: { submit_per_s: bullmq },
  });
  const [goal] = goalsOf([round(900, 300), round(10, 5), round(400, 400)]);
  t.equal(goal?.measured, 2, 'of the medians it would be 400 to 300');
});

t.test('the median of each figure counts, over the rounds that have it', async (t) => {
  const rounds: FiguresByName[] = [
    { bullmq: { submit_per_s: 3, p99_ms: 10 }, insert: { submit_per_s: 7 } },
    { bullmq: { submit_per_s: 1 } },
    { bullmq: { submit_per_s: 2 } },
  ];
  t.same(mediansOf(rounds), { bullmq: { submit_per_s: 2, p99_ms: 10 }, insert: { submit_per_s: 7 } });
});

t.test('the programs of the peers can be read by Node', async (t) => {
  const programs = readdirSync(PROGRAMS, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.mjs'));
  t.ok(programs.length > 6);
  const check = (name: string) => promisify(execFile)(process.execPath, ['--check', join(PROGRAMS, name)]);
  await Promise.all(programs.map(check));
});

t.test('what an operation of a peer comes to is as long as what a simulated connection answers', async (t) => {
  const { profileOf } = (await import(pathToFileURL(join(PROGRAMS, 'profile.mjs')).href)) as {
    profileOf(input: object): { profile: object };
  };
  const { profile } = profileOf({ profile_id: 'person-1' });
  const described = describePerson(personBySlug('person-1'));
  t.same(
    Object.keys(described).filter((field) => !(field in profile)),
    [],
  );
  const theirs = Object.fromEntries(Object.entries(profile).filter(([field]) => field in described));
  const ratio = JSON.stringify(theirs).length / JSON.stringify(described).length;
  t.ok(ratio > 0.9 && ratio < 1.1, `${ratio}`);
});

t.test('the peers have the versions of the packages that the service has as well', async (t) => {
  const dependenciesIn = (folder: string) =>
    (JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as { dependencies: Record<string, string> })
      .dependencies;
  const [own, theirs] = [dependenciesIn(ROOT), dependenciesIn(PROGRAMS)];
  const shared = Object.keys(theirs).filter((name) => name in own);
  t.same(shared.sort(), ['pg', 'pg-boss']);
  for (const name of shared) t.equal(theirs[name], own[name], name);
});
