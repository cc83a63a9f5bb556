/** Every bound of the delivery side, in one place. What happens at each one is told where it is kept. */

/** Waits between the five attempts of a series, in seconds (contract: "Limits", delivery attempts). */
export const RETRY_WAITS_s: readonly number[] = [1, 5, 30, 120];

/** How late at most a due delivery is looked for, and how often a partition's queue is looked into for retries. */
export const WAKE_tick_ms = 100;

/** One attempt from the name lookup to the last byte of the answer (EVT-3). Past it: `timeout`. */
export const ATTEMPT_DEADLINE_ms = 15_000;

/** Raw bytes of an answer that are read (EVT-3). Past it the connection is closed; the status decides. */
export const ANSWER_bytes = 64 * 1024;

/** Header bytes of an answer. Past it: `protocol`. */
export const ANSWER_HEADER_bytes = 16 * 1024;

/** The name lookup when a subscription is created. Past it the host counts as unresolvable. */
export const CREATION_LOOKUP_ms = 5_000;

/** One question to a name server, and how often it is asked. */
export const NAME_QUERY_ms = 2_000;
export const NAME_QUERY_tries = 2;

/** Addresses whose verdict a thread remembers; the one not asked for the longest goes. */
export const VERDICT_CACHE_addresses = 10_000;

/** A callback address at most. Past it the subscription is refused. */
export const CALLBACK_URL_characters = 2048;

/** An idle connection to a receiver is closed after this; below the 5 s after which many servers close theirs. */
export const KEEP_ALIVE_ms = 4_000;

/** Origins a thread keeps connections to. Past it the one unused for longest is closed. */
export const POOLED_origins = 512;

/** Attempts in flight to one subscription (EVT-10). Past it its deliveries wait. */
export const SUBSCRIPTION_attempts = 8;

/** The same before its receiver has answered any: one that is dead holds no more slots than these until that shows. */
export const FIRST_attempts = 2;

/** Ends of attempts that are being written, for each slot. Past it nothing more is started. */
export const SLOT_finishing = 4;

/** An attempt that takes longer, or times out, shows a slow receiver. */
export const SLOW_ATTEMPT_ms = 5_000;

/** Part of the slots that subscriptions with slow receivers may hold together. */
export const SLOW_share = 0.5;

/** Subscriptions in the memory of one thread. Past it no more jobs are fetched. */
export const THREAD_subscriptions = 10_000;

/** While a thread holds no more than these, it remembers an idle slow one. Past it that is forgotten and found slow again: what is idle must never fill the room. */
export const IDLE_SLOW_subscriptions = THREAD_subscriptions / 2;

/** A job that somebody else had in hand when it was to be given back is looked at again after this. */
export const REST_again_ms = 500;

/** Deliveries a database statement at most, and such statements under way. */
export const BATCH_deliveries = 128;
export const BATCH_statements = 2;

/** Waits between tries at a statement that failed, doubled from the first to the second. */
export const STATEMENT_RETRY_min_ms = 100;
export const STATEMENT_RETRY_max_ms = 2_000;
