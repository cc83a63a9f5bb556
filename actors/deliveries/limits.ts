/** Subscriptions in the memory of one thread. At the limit no more jobs are fetched. */
const thread_subscriptions = 10_000;
/** Attempts in flight to one subscription before its receiver has answered any: a dead one holds no more slots until it has timed out. */
const new_subscription_attempts = 2;
/** A destination with fewer subscriptions than these is never paused: each keeps its own schedule. */
const pause_subscriptions = 8;

/** Every bound of the deliveries: its unit in the name, its value, and what happens when it is reached. */
export const LIMITS = {
  /** How long a delivery waits whose secret was sealed under a key that this node lacks. */
  key_wait_ms: 30_000,
  /** Waits between the five attempts of a series, in seconds (contract: "Limits", delivery attempts). After the last one: `failed`. */
  retry_waits_s: [1, 5, 30, 120],
  /** One attempt, from the name lookup to the last byte of the answer (EVT-3). Past it: `timeout`. */
  attempt_ms: 15_000,
  /** The exchange in which an address proves itself (EVT-18), the name lookup included. Past it the address has not. */
  verification_ms: 5_000,
  /** Bytes of the answer in which it does. Past it the address has not. */
  verification_answer_bytes: 4 * 1024,
  /** Raw bytes of an answer that are read (EVT-3). Past it the connection is closed; the status decides. */
  answer_bytes: 64 * 1024,
  /** Header bytes of an answer. Past it: `protocol`. */
  answer_header_bytes: 16 * 1024,

  /** A callback URL. Past it the subscription is refused. */
  callback_url_characters: 2048,
  /** The name lookup when a subscription is created. Past it the host counts as unresolvable. */
  creation_lookup_ms: 5_000,
  /** One question to a name server, of one that was quick before a second. Past it the question is asked again, `name_query_tries` times in all, and then once more. */
  name_query_ms: 2_000,
  name_query_tries: 2,
  /** Addresses whose verdict a thread caches. Past it the least recently used one is dropped, and judged anew when it comes back. */
  verdict_cache_addresses: 10_000,

  /** How long a connection to a receiver stays open idle; below the 5 s after which many servers close theirs. */
  keep_alive_ms: 4_000,
  /** Origins a thread keeps connections to. Past it those of the least recently used one are closed. */
  pooled_origins: 512,

  /** How long claims of a subscription begin where those before ended. Past it one begins with what has been due the longest. */
  claim_mark_ms: 1_000,
  /** Attempts in flight to one subscription (EVT-10). At the limit its deliveries wait. */
  subscription_attempts: 8,
  new_subscription_attempts,
  /** An attempt that takes longer than this, or times out, marks its receiver as slow. */
  slow_attempt_ms: 5_000,
  /** Share of the slots that subscriptions with slow receivers may hold together. At the limit they wait, the others do not. */
  slow_slots_share: 0.5,
  /** Share of what a workspace may have that one of its destinations may: of slots, and of subscriptions in memory. At the limit its subscriptions wait, those of others do not. */
  destination_slots_share: 0.75,
  /** Attempts in flight to a destination that is not known to answer: what subscriptions too few for a pause may have. At the limit the others of it wait. */
  new_destination_attempts: new_subscription_attempts * pause_subscriptions,
  pause_subscriptions,
  /** Attempts in a row that got no answer, of `pause_subscriptions` subscriptions: past it the destination is paused. */
  pause_attempts: new_subscription_attempts * pause_subscriptions,
  /** Wait before a paused destination is tried, soon, in case it only restarts; doubles up to the cap. */
  paused_try_ms: 1_000,
  paused_try_cap_ms: 30_000,
  /** Subscriptions whose last attempt was answered, as a thread remembers them. Past it the longest unused is forgotten, and counts as its destination does. */
  answered_subscriptions: 20_000,
  /** Destinations without a subscription in memory of which a thread remembers how they answer. Past it the longest unused is forgotten, and unknown when it comes back. */
  idle_destinations: 10_000,
  /** Ends of attempts being written, for each slot. At the limit no attempt starts. */
  slot_finishes: 4,
  thread_subscriptions,
  /** Up to this many subscriptions, a thread keeps an idle slow one in memory; past it the actor is passivated and the receiver found slow again. */
  idle_slow_subscriptions: thread_subscriptions / 2,

  /** A workspace, or a destination, that holds its share of a thread's subscriptions is fetched again once it holds this part of it. */
  full_share: 0.9,

  /** Jobs in one fetch. Past it the queue is fetched again at once. */
  fetch_jobs: 500,
  /** Tick of the wake timers: how late a due delivery is looked for at most, and how seldom a partition's queue is fetched for retries. */
  wake_tick_ms: 100,
  /** A job that another transaction holds when it is to be parked is looked at again after this. */
  park_retry_ms: 500,
  /** How often rows and jobs are compared with what is in hand. */
  sweep_ms: 1_000,
  /** Partitions that are compared in one turn. The others follow in the next ones: all 64 within eight turns. */
  sweep_partitions: 8,
  /** Jobs of a partition that are read in one turn. Past it the next time its turn comes goes on with the next ones. */
  sweep_jobs: 500,
  /** Attempts that are not in hand and put right in one turn. Past it the rest is found in later ones. */
  sweep_attempts: 500,
  /** Deliveries or subscriptions in one statement. Past it they go into the next one. */
  batch_items: 128,
  /** How long an item of a batch that failed waits for its part of it, while the batch is divided; then it is asked for again. */
  division_ms: 30_000,
  /** From asking for a start to sending its callback. Past it the row is asked again, and what was stopped meanwhile is not sent. */
  late_start_ms: 1_000,
  /** Statements of each kind under way at once. Meanwhile items gather into the next one. */
  batch_statements: 2,
  /** Wait before what is noted of paused destinations is written again; doubles up to `statement_retry_cap_ms`. */
  pause_note_retry_ms: 250,
  /** An attempt whose delivery another transaction holds is finished again after this; doubles up to `statement_retry_cap_ms`. */
  locked_retry_ms: 50,
  /** Wait before a statement that failed is tried again; doubles up to the cap. */
  statement_retry_ms: 100,
  statement_retry_cap_ms: 2_000,
} as const;
