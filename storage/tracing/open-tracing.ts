import type { Logger } from '../log/log.js';
import type { Tracing, TracingSettings } from './tracing.js';

/** The spans of this thread; undefined, with nothing loaded, without settings. */
export async function openTracing(
  settings: TracingSettings | null,
  thread: string,
  log: Logger,
): Promise<Tracing | undefined> {
  if (!settings) return undefined;
  const { otlpTracing } = await import('./otlp.js');
  return otlpTracing(settings, thread, log);
}
