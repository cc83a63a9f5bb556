/** The bounds of the stand-in network, each with its unit. What NETWORK.md promises is computed from here. */
export const LIMITS = {
  members: 12_000,
  companies: 600,
  jobs: 3_000,
  /** A bigger body is 413 `too_large`. */
  body_bytes: 2 * 1024 * 1024,
  /** A code sent later than this finds its challenge expired. */
  challenge_ms: 30 * 60_000,
  /** Between two signs of life on a stream. */
  heartbeat_ms: 3_000,
  /** A browser keeps its cookies this long. */
  cookie_seconds: 31_536_000,
  /** An idle kept-alive connection is closed by the site after this. */
  keep_alive_ms: 60_000,
  search_start: 1_000,
  search_count: 50,
  search_count_default: 10,
  jobs_count_default: 25,
  recruiter_count_default: 25,
  recruiter_entries: 100,
  /** Conversations and messages alike. */
  conversation_count: 20,
  resolve_ids: 25,
  connections_start: 10_000,
  connections_count_default: 25,
  typeahead_count: 25,
  typeahead_count_default: 10,
  invitations_start: 100_000,
  /** Pending invitations are listed by windows of this many places. */
  invitations_window: 10,
  invitation_characters: 300,
  attachment_bytes: 2_000_000,
  attachments_per_message: 5,
  sample_bytes: 100_000_000,
  message_characters: 2_000,
  render_content_objects: 5,
  /** Frames remembered, so that the control API can send one again. */
  frames_remembered: 1_000,
} as const;

/** The regions with a forward proxy, in the order the ready line names them. */
export const REGIONS = ['US', 'DE', 'GB', 'FR'] as const;

export const SITE_HOST = 'www.social.test';
export const FILES_HOST = 'files.social.test';
export const ORIGIN = `https://${SITE_HOST}`;
