/**
 * The bounds of the stand-in network, each with its unit in the name. What NETWORK.md promises is computed from here; a
 * request past a bound is 400 `bad_request` unless another answer is named.
 */
export const LIMITS = {
  /** Generated people. Accounts add theirs. */
  members: 12_000,
  /** Generated companies. */
  companies: 600,
  /** Generated jobs. */
  jobs: 3_000,
  /** Body of a request. Past it: 413 `too_large`. */
  body_bytes: 2 * 1024 * 1024,
  /** Life of a challenge. Past it: page `challenge-expired`, 410. */
  challenge_ms: 30 * 60_000,
  /** Between two heartbeats on a stream. */
  heartbeat_ms: 3_000,
  /** Life of the site's cookies in a browser. */
  cookie_seconds: 31_536_000,
  /** Idle time of a kept-alive connection. Past it the site closes the connection. */
  keep_alive_ms: 60_000,
  /** What open connections get to end in at a shutdown. Past it the process exits without them. */
  shutdown_ms: 2_000,
  /** First place of a page of a search. */
  search_start_rows: 1_000,
  /** Rows of a page of a search, and of connections. */
  search_rows: 50,
  /** Rows of a page of people, of jobs and of candidates when the request names none. */
  people_default_rows: 10,
  jobs_default_rows: 25,
  recruiter_default_rows: 25,
  /** Conversations or messages of a page; also the default. */
  conversation_rows: 20,
  /** Public ids of one request. */
  resolve_ids: 25,
  /** First place of a page of connections, and its rows when the request names none. */
  connections_start_rows: 10_000,
  connections_default_rows: 25,
  /** Suggestions of one answer, and how many when the request names none. */
  typeahead_items: 25,
  typeahead_default_items: 10,
  /** First place of a window of pending invitations, and the places of one window. */
  invitations_start_places: 100_000,
  invitations_window_places: 10,
  /** Text of an invitation. */
  invitation_characters: 300,
  /** One uploaded file. */
  attachment_bytes: 2_000_000,
  /** Uploads of one message. */
  message_attachments: 5,
  /** One sample file. Past it: 404. */
  sample_bytes: 100_000_000,
  /** Text of a message. */
  message_characters: 2_000,
  /** `renderContent` of a message. */
  render_content_objects: 5,
  /** Frames that the control API can send once more. Past it the oldest is forgotten. */
  remembered_frames: 1_000,
} as const;

/** The regions with a forward proxy, in the order of the ready line. */
export const REGIONS = ['US', 'DE', 'GB', 'FR'] as const;

export const SITE_HOST = 'www.social.test';
export const FILES_HOST = 'files.social.test';
export const ORIGIN = `https://${SITE_HOST}`;
