import type { Database } from '../../../storage/postgres/database.js';
import type { SplitCores } from '../../kit/cores.js';
import { number } from '../../kit/report.js';
import { drive } from './drive.js';
import { type Ending, settle } from './ending.js';
import { LIMITS } from './limits.js';
import type { LoadCounts, LoadOrder, LoadResult } from './messages.js';
import { type Sample, Sampler } from './samples.js';
import type { SoakWorld } from './world.js';

/** What a load of a long time did, what the service held meanwhile, and how it ended. */
export interface Soaked {
  load: LoadResult;
  samples: Sample[];
  ending: Ending;
}

/** Drives the load to its end and waits until all of it has ended, with samples of what is held meanwhile. */
export async function soaked(
  world: SoakWorld,
  db: Database,
  cores: SplitCores | null,
  order: LoadOrder,
  say: (line: string) => void,
): Promise<Soaked> {
  const sampler = new Sampler(world.service, db);
  let counts: LoadCounts | undefined;
  const timer = setInterval(() => say(progressLine(counts, sampler.samples.at(-1))), LIMITS.progress_ms);
  const driven = drive(cores, order, (told) => {
    counts = told;
  });
  const load = await Promise.race([driven, sampler.failed]).finally(() => clearInterval(timer));
  const samples = await sampler.stop();
  say('the load is over; waiting until everything has ended');
  return { load, samples, ending: await settle(db) };
}

function progressLine(counts: LoadCounts | undefined, sample: Sample | undefined): string {
  if (!counts || !sample) return 'nothing was measured yet';
  const held = `${number(sample.rss_mib)} MiB, ${sample.handles} handles, ${sample.database_connections} connections`;
  const told = `${number(counts.accepted)} accepted, ${number(counts.underWay)} without an answer`;
  const lost = `${number(counts.leftOut)} left out, ${number(counts.refused)} refused`;
  return `${number(sample.at)} s: ${told}, ${lost}; ${held}, ${sample.contexts} contexts, ${number(sample.waiting)} waiting`;
}
