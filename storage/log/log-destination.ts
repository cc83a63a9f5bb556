import { isMainThread } from 'node:worker_threads';
import { pino } from 'pino';
import { LIMITS } from '../limits.js';

const WARN = pino.levels.values.warn as number;

/**
 * Standard error, written to in whole lines, several at a time and beside this thread's work, after `LIMITS.log_flush_ms` or so; a
 * warning takes everything with it at once, as does the end of the thread. All threads write to one descriptor: a pipe keeps writes
 * of at most `LIMITS.log_write_bytes` whole. A reader that does not read is not waited for: past `LIMITS.log_buffer_bytes`
 * lines are dropped, and counted in one that follows.
 */
export function bufferedDestination() {
  const destination = pino.destination({
    ...{ fd: 2, sync: false, maxWrite: LIMITS.log_write_bytes, minLength: LIMITS.log_write_bytes - 1 },
    maxLength: LIMITS.log_buffer_bytes,
  });
  const write = destination.write.bind(destination);
  let timer: NodeJS.Timeout | undefined;
  let asked = false;
  const flush = () => {
    clearTimeout(timer);
    timer = undefined;
    asked = true;
    destination.flush();
  };
  const stream = Object.assign(destination, {
    // With this, pino notes the level of each line.
    [Symbol.for('pino.metadata')]: true,
    lastLevel: 0,
    write(line: string) {
      const room = write(line);
      if (stream.lastLevel >= WARN) flush();
      else timer ??= setTimeout(flush, LIMITS.log_flush_ms).unref();
      return room;
    },
  });
  // While a write is under way a flush does nothing: what it was for is written after that.
  stream.on('drain', () => {
    if (asked) destination.flush();
    asked = false;
  });
  countDropped(stream);
  if (!isMainThread) process.once('exit', () => stream.flushSync());
  return stream;
}

/** Writes one line once there is room again after lines were dropped. */
function countDropped(destination: ReturnType<typeof pino.destination>): void {
  let dropped = 0;
  destination.on('drop', () => {
    dropped++;
  });
  destination.on('drain', () => {
    if (dropped === 0) return;
    const fields = { level: WARN, time: Date.now(), dropped, msg: 'log: lines were dropped' };
    dropped = 0;
    destination.write(`${JSON.stringify(fields)}\n`);
  });
}
