import type { Database } from '../../../storage/postgres/database.js';
import { deliveryWork } from './delivery-work.js';
import { analyze, fill, ownPartitions, stopAutovacuum } from './fill.js';
import { faultsOf } from './judge.js';
import { operationWork } from './operation-work.js';
import { PlanSession, type Pool } from './plan-session.js';
import { readWork } from './read-work.js';
import { roundWork } from './round-work.js';
import { type Sizes, SMALL } from './sizes.js';
import type { HotWork } from './statement.js';
import { subjectsOf } from './subjects.js';

export interface Finding {
  /** The state of the tables, and the session that was used in it. */
  state: string;
  work: string;
  statement: string;
  faults: string[];
}

export interface Run {
  /** An owner of an empty database that is migrated, for filling and analysing. */
  admin: Database;
  url: string;
  large: Sizes;
  /** Settings that users turn are tried as well. */
  turned: boolean;
  say?: (line: string) => void;
}

type Settings = Record<string, string>;

const POOLS: readonly Pool[] = ['thread', 'edge', 'control'];
const CUSTOM = { plan_cache_mode: 'force_custom_plan' };
const GENERIC = { plan_cache_mode: 'force_generic_plan' };
const TURNED: readonly Settings[] = [{ random_page_cost: '1.1' }, { work_mem: '64kB' }, { work_mem: '256MB' }];

/**
 * Takes a database through its states, and gives what was wrong in the large one. Its tables are never analysed until they are large, as
 * after a restore or an upgrade of the server; autovacuum, which would do it within a minute or so, is off.
 */
export async function findTurnedPlans({ admin, url, large, turned, say = () => {} }: Run): Promise<Finding[]> {
  const findings: Finding[] = [];
  const work = workOf(large);
  let analyzed = false;
  const judge = async (session: PlanSession, state: string, settings: Settings = {}) => {
    const since = performance.now();
    const generic = settings.plan_cache_mode === GENERIC.plan_cache_mode;
    const kept = state.startsWith('planned');
    const judged = ({ pool, notGeneric, notKept }: HotWork) =>
      pool === session.pool && !(generic && notGeneric) && !(kept && notKept);
    for (const one of work.filter(judged)) {
      for (const execution of await session.measure(one.work)) {
        const faults = faultsOf(one, execution, analyzed);
        if (faults.length === 0) continue;
        findings.push({ state: `${session.pool}: ${state}`, work: one.name, statement: execution.name, faults });
      }
    }
    say(`${session.pool}: ${state}: ${Math.round(performance.now() - since)} ms`);
  };
  const fresh = async (state: string, settings: Settings) => {
    for (const pool of POOLS) {
      // A thread's statements have one plan each.
      const modes = pool === 'thread' ? [{}] : [CUSTOM, GENERIC];
      for (const mode of modes) {
        const all = { ...settings, ...mode };
        await using session = new PlanSession(url, pool, all);
        await judge(session, [state, ...Object.entries(all).flat()].join(' '), all);
      }
    }
  };
  /** As a session goes on: the server has chosen, by their costs, which plan it keeps. */
  const settled = async (state: string) => {
    for (const pool of POOLS.filter((pool) => pool !== 'thread')) {
      await using session = await warmed(url, pool, work);
      await judge(session, `${state}, plans settled`);
    }
  };
  await stopAutovacuum(admin);
  await ownPartitions(admin);
  // What threads plan they keep, for any size of the tables; the other pools plan again.
  await using empty = await warmed(url, 'thread', work);
  await fill(admin, SMALL);
  await using small = await warmed(url, 'thread', workOf(SMALL));
  await fill(admin, large, () => Promise.all([empty.touch(), small.touch()]));
  await judge(empty, 'planned while the tables were empty');
  await judge(small, 'planned while the tables were small');
  await fresh('large, not analysed', {});
  await analyze(admin);
  analyzed = true;
  await fresh('large', {});
  await settled('large');
  for (const settings of turned ? TURNED : []) await fresh('large', settings);
  return findings;
}

const workOf = (sizes: Sizes): HotWork[] => {
  const subjects = subjectsOf(sizes);
  return [...operationWork(subjects), ...deliveryWork(subjects), ...readWork(subjects), ...roundWork(subjects)];
};

async function warmed(url: string, pool: Pool, work: HotWork[]): Promise<PlanSession> {
  const session = new PlanSession(url, pool);
  for (const one of work.filter((one) => one.pool === pool)) await session.warm(one.work);
  return session;
}
