import type { LostAnswer, SubmissionRecord } from '../evidence.js';
import type { Worked } from './work.js';

/** What the clients work on. */
export interface LoadOrder {
  seed: number;
  /** Of the nodes, in their order; a request goes to any of them. */
  nodes: string[];
  key: string;
  simulated: Worked[];
  social: Worked[];
  /** Hash id that social connections write to. */
  person: string;
  /** Submissions a second. */
  rate: number;
  social_rate: number;
  /** Simulated connections are worked on with short gaps, and some of their operations take seconds. */
  gaps: boolean;
  /** Gets a line for everything that a client does and is told (`LoadLine`). */
  logFile: string;
}

export type ToLoad = { type: 'start'; order: LoadOrder } | { type: 'submit_nothing_new' | 'stop' };

export interface LoadProgress {
  sent: number;
  accepted: number;
  under_way: number;
  /** Due while too many were under way. */
  left_out: number;
}

export type FromLoad = { type: 'progress'; progress: LoadProgress } | { type: 'done' };

/** A line of the clients' log. */
export type LoadLine =
  | ({ line: 'sent' } & Pick<SubmissionRecord, 'key' | 'connection_id' | 'capability' | 'marker'> & {
        expected?: string[];
        at: number;
      })
  | ({ line: 'answer'; key: string } & SubmissionRecord['answers'][number])
  | { line: 'cancel'; operation_id: string; at: number; status: number }
  | { line: 'seen'; operation_id: string; at: number; status: string }
  | ({ line: 'lost' } & LostAnswer);
