import type { SplitCores } from '../../kit/cores.js';
import { readMetrics } from '../../kit/metrics.js';
import { Child } from '../../kit/program.js';
import { LIMITS } from './limits.js';
import type { FromLoad, LoadCounts, LoadOrder, LoadResult, ToLoad } from './messages.js';
import type { SoakWorld } from './world.js';

/** Lets the clients work to the end of their time; resolves when everything has its answer. */
export async function drive(
  cores: SplitCores | null,
  order: LoadOrder,
  onProgress: (counts: LoadCounts) => void = () => {},
): Promise<LoadResult> {
  await using clients = new Child<ToLoad, FromLoad>(
    new URL('./program.js', import.meta.url),
    cores?.client,
    (message) => {
      if (message.type === 'progress') onProgress(message.counts);
    },
  );
  const within_ms = order.seconds * 1_000 + LIMITS.last_answers_ms;
  return (await clients.ask({ type: 'start', order }, 'done', within_ms)).result;
}

/** How many operations end a second when the next ones are submitted as soon as the last have ended, as the service counts them. */
export async function bestRate({ service }: SoakWorld, cores: SplitCores | null, order: LoadOrder): Promise<number> {
  const ended = async () =>
    (await readMetrics(service.addresses.metricsUrl))('connection_service_operations_finished_total');
  const before = await ended();
  const { seconds } = await drive(cores, order);
  return ((await ended()) - before) / seconds;
}
