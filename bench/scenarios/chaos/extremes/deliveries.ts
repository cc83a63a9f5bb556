import { BUSY, few, type KeptLimits, kept, type LimitRecords, upTo, within } from './record.js';

/** What the limits of `actors/deliveries/limits.ts` may be. */
export const DELIVERIES: LimitRecords = {
  verdict_cache_addresses: upTo(10_000),
  keep_alive_ms: within(50, 4_000, 'many receivers close an idle connection after 5 s'),
  pooled_origins: upTo(512),
  claim_mark_ms: within(1, 5_000),
  subscription_attempts: upTo(8),
  new_subscription_attempts: few(1, 2),
  answered_subscriptions: within(4, 20_000),
  idle_destinations: within(2, 10_000),
  slot_finishes: few(1, 4),
  thread_subscriptions: within(32, 10_000, 'below it slow receivers may hold all of them'),
  fetch_jobs: upTo(500),
  wake_tick_ms: within(5, 1_000),
  park_retry_ms: within(10, 2_000),
  sweep_ms: within(50, 5_000),
  sweep_partitions: upTo(64),
  sweep_jobs: upTo(500, 2),
  sweep_attempts: upTo(500, 2),
  batch_items: upTo(128),
  division_ms: within(2_000, 30_000, BUSY),
  late_start_ms: within(20, 1_000),
  batch_statements: few(1, 4),
  pause_note_retry_ms: within(10, 1_000),
  locked_retry_ms: within(5, 500),
  statement_retry_ms: within(10, 1_000),
  statement_retry_cap_ms: within(100, 2_000),
};

export const DELIVERIES_KEPT: KeptLimits = {
  ...kept(
    'the contract says it, and the checker goes by it',
    ...['key_wait_ms', 'retry_waits_s', 'attempt_ms', 'verification_ms', 'verification_answer_bytes', 'answer_bytes'],
    ...['answer_header_bytes', 'callback_url_characters', 'creation_lookup_ms'],
  ),
  ...kept('receivers of the run have addresses without a name', 'name_query_ms', 'name_query_tries'),
  ...kept(
    'what slow and dead destinations may hold together is made of several that belong together',
    ...['slow_attempt_ms', 'slow_slots_share', 'destination_slots_share', 'new_destination_attempts'],
    ...['pause_subscriptions', 'pause_attempts', 'paused_try_ms', 'paused_try_cap_ms', 'idle_slow_subscriptions'],
    'full_share',
  ),
};
