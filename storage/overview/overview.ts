import { LIMITS } from '../limits.js';
import type { Logger } from '../log/log.js';
import type { Sql } from '../postgres/database.js';
import { pingDatabase } from '../postgres/liveness.js';
import { Background } from '../process/background.js';
import { Changes } from './changes.js';
import { countsOf, type NodeMeasures, type NodeStep, stepsOfOthers, storeStep } from './steps.js';
import { Tally, together } from './tally.js';

export interface OverviewOptions {
  db: Sql;
  log: Logger;
  nodeId: string;
  /** What the node sees of itself now. */
  measures(): Omit<NodeMeasures, 'database_ms'>;
}

/**
 * What happens at this node, counted in steps (HTTP-28), and told to who watches. Every second it takes what was counted; at the end of
 * a step it stores it. A step that cannot be stored is stored later, whole; past `LIMITS.overview_kept_steps` the oldest is lost.
 */
export class Overview {
  readonly tally = new Tally();
  readonly changes = new Changes();
  #current = { step_ms: stepOf(Date.now()), tally: new Tally() };
  #ended: NodeStep[] = [];
  /** Of other nodes, what was told. */
  #told = new Set<string>();

  /** Begins to store and to tell; `stop` of what it returns ends that, once what was counted is stored. */
  start(options: OverviewOptions): Pick<Background, 'stop'> {
    const { db, nodeId } = options;
    const rounds = new Background(async () => {
      await this.#round(options).catch((error) => options.log.debug({ err: error }, 'overview: not stored yet'));
      return LIMITS.overview_poll_ms;
    });
    rounds.start();
    return {
      stop: async () => {
        await rounds.stop();
        this.#take();
        this.#endStep(options, Number.NaN);
        for (const step of this.#ended) await storeStep(db, step).catch(() => {});
        options.log.debug({ node_id: nodeId }, 'overview: stored again');
      },
    };
  }

  async #round(options: OverviewOptions): Promise<void> {
    const now_ms = stepOf(Date.now());
    if (now_ms !== this.#current.step_ms) this.#endStep(options, now_ms);
    this.#take();
    for (let step = this.#ended[0]; step; step = this.#ended[0]) {
      const began = performance.now();
      await pingDatabase(options.db);
      step.measures.database_ms = performance.now() - began;
      await storeStep(options.db, step);
      this.#ended.shift();
    }
    if (this.changes.watchers > 0) await this.#tellOthers(options);
  }

  #take(): void {
    const taken = this.tally.take();
    this.#current.tally.add(taken);
    this.changes.tell(taken);
  }

  #endStep({ nodeId, measures: now }: OverviewOptions, next_ms: number): void {
    const workspaces = this.#current.tally.take();
    const measures = { ...now(), database_ms: 0 };
    const step = new Date(this.#current.step_ms);
    this.#ended.push({ nodeId, step, workspaces, together: together(workspaces), measures });
    this.#ended = this.#ended.slice(-LIMITS.overview_kept_steps);
    this.#current.step_ms = next_ms;
  }

  /** What other nodes have stored since it was looked last. */
  async #tellOthers({ db, nodeId }: OverviewOptions): Promise<void> {
    const recent = await stepsOfOthers(db, nodeId, new Date(Date.now() - LIMITS.overview_recent_ms));
    const keyed = new Map(recent.map((one) => [`${one.node_id} ${one.step.getTime()}`, one]));
    const fresh = [...keyed].filter(([key]) => !this.#told.has(key)).map(([, one]) => one);
    if (fresh.length > 0) this.changes.tell(await countsOf(db, fresh));
    this.#told = new Set(keyed.keys());
  }
}

const stepOf = (time_ms: number): number => Math.floor(time_ms / LIMITS.overview_step_ms) * LIMITS.overview_step_ms;
