import type { StreamFrame } from '../../browser-pool/social/access/frames.js';
import type { StreamEnd } from '../../browser-pool/social/access/stream.js';
import { LIMITS } from '../limits.js';
import { lossOf, type StreamLoss } from './stream-loss.js';
import type { StreamHandlers } from './stream-source.js';

/** What a frame asks for: done in order, one at a time. */
export type FrameWork = () => Promise<void>;

export interface StreamReading {
  open(handlers: StreamHandlers): void;
  /** Aborting ends the stream. */
  stop: AbortSignal;
  /** How long the stream may be silent. */
  silence_ms: number;
  /** Called with each frame as it comes; returns the work it asks for. */
  workOf(frame: StreamFrame, first: boolean): FrameWork[];
  /** Called when the work of a frame fails. */
  onFailure(error: unknown): void;
}

/**
 * Reads one stream from its request to its end. Resolves with why it ended, once the work of its frames is over; never rejects. Invariants:
 * I1 the work of frames is done in the order in which they came;
 * I2 at most `stream_waiting_frames` pieces of work wait: then the stream is held up until they are done;
 * I3 a stream that is silent for `silence_ms` ends; one that is held up is not silent;
 * I4 a stream of which a frame was not stored ends: only a new stream and its gap show that something is missing.
 */
export async function readStream(reading: StreamReading): Promise<StreamLoss> {
  const end = new AbortController();
  const silence = setTimeout(() => end.abort(), reading.silence_ms); // I3
  const queue = new WorkQueue({
    onFailure: (error) => {
      reading.onFailure(error);
      end.abort(); // I4
    },
    onDone: () => silence.refresh(), // I3
  });
  let first = true;
  const onFrame = (frame: StreamFrame) => {
    silence.refresh();
    for (const work of reading.workOf(frame, first)) queue.add(work);
    first = false;
    return queue.waiting < LIMITS.stream_waiting_frames ? undefined : queue.done; // I2
  };
  try {
    const signal = AbortSignal.any([reading.stop, end.signal]);
    const streamEnd = await new Promise<StreamEnd>((onEnd) => reading.open({ signal, onEnd, onFrame }));
    return end.signal.aborted ? { reason: 'stream_silent' } : lossOf(streamEnd);
  } finally {
    clearTimeout(silence);
    await queue.done;
  }
}

interface WorkQueueOptions {
  onFailure: (error: unknown) => void;
  /** Called after each piece of work, failed or not. */
  onDone: () => void;
}

/** Does one piece of work after the other (I1); one that fails does not stop those behind it. */
class WorkQueue {
  readonly #options: WorkQueueOptions;
  #last: Promise<void> = Promise.resolve();
  #waiting = 0;

  constructor(options: WorkQueueOptions) {
    this.#options = options;
  }

  /** Pieces of work that are not done. */
  get waiting(): number {
    return this.#waiting;
  }

  /** Resolves when everything added so far is done. */
  get done(): Promise<void> {
    return this.#last;
  }

  add(work: FrameWork): void {
    const { onFailure, onDone } = this.#options;
    this.#waiting++;
    this.#last = this.#last
      .then(work)
      .catch(onFailure)
      .finally(() => {
        this.#waiting--;
        onDone();
      });
  }
}
