import type { SigningIdentity } from '../../kit/callback-server.js';
/** What the neighbour does, and what is measured of it. */
export const KINDS = ['submit', 'poll', 'wait', 'callback'] as const;
export type Kind = (typeof KINDS)[number];

/** Outcomes of requests, by class: `5xx` is any but 503, `reset` a connection that was refused or ended, `silent` no answer in time. */
export const CLASSES = ['2xx', '3xx', '4xx', '429', '503', '5xx', 'reset', 'silent'] as const;
export type AnswerClass = (typeof CLASSES)[number];
export type Answers = Partial<Record<AnswerClass, number>>;

/** Of the requests of one kind that were due in a phase. */
export interface KindResult {
  due: number;
  /** Refused, reset or otherwise without success; those without an answer in time are not among them, but have a latency. */
  failed: number;
  p50_ms: number;
  p99_ms: number;
  max_ms: number;
}

/** What the neighbour saw in one phase. Latencies are from the time at which a request was due. */
export interface Measured {
  kinds: Record<Kind, KindResult>;
  /** The longest time without any answer. */
  stall_ms: number;
  /** The 99th percentile of how late its own timers ran: what of the latencies may be the neighbour's own, and not the service's. */
  late_ms: number;
  answers: Answers;
}

export interface Tenant {
  url: string;
  key: string;
  workspaceId: string;
  databaseUrl: string;
  /** Of its receivers. */
  identity: SigningIdentity;
}

export type ToNeighbour = { type: 'start'; tenant: Tenant } | { type: 'measure'; seconds: number };
export type FromNeighbour = { type: 'ready' } | { type: 'measured'; measured: Measured };

/** What an attack did. */
export interface Attacked {
  answers: Answers;
  /** Requests that were still without an answer when its time was over. */
  waiting: number;
  seconds: number;
  received_bytes: number;
  /** Callbacks that came to the attacker's own receiver. */
  callbacks: number;
  /** What there is to know of how it was set up. */
  note: string;
}

export type ToAttacker =
  | { type: 'prepare'; attack: string; tenant: Tenant; rows: number }
  | { type: 'attack'; seconds: number }
  | { type: 'clear' };
export type FromAttacker =
  | { type: 'prepared'; note: string }
  | { type: 'attacked'; attacked: Attacked }
  | { type: 'cleared'; failure: string | null };
