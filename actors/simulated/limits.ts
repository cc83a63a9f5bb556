/** Bounds of the simulated network. Pages and lists end there; the next page or a narrower search has the rest. */
export const LIMITS = {
  /** Look-ups of recipients that go to PostgreSQL in one statement. */
  lookup_recipients: 256,
  /** Statements of look-ups under way at once: further ones wait. */
  lookup_statements: 2,
  /** Look-ups waiting: past it one is refused. A thread's running operations, one a connection, are far fewer. */
  waiting_lookups: 100_000,
  /** Longest pause of a `sim-delay` trigger: longer ones are cut to it. */
  delay_ms: 60_000,
  /** After which an approval is given by itself. */
  approval_ms: 2_000,
  /** Items of one typeahead. */
  typeahead_items: 10,
  /** Entries of one page of sent invitations. */
  invitation_entries: 10,
  /** Values of one facet of a candidate search: the most frequent stay. */
  facet_values: 10,
  /** Own conversations that one inbox search looks at to leave them out of the history. */
  searched_conversations: 2_000,
  /** Messages of one conversation in the computed history. */
  history_messages: 45,
  /** Characters of an id, as the contract's `ProviderId` takes it: longer ones are shortened. */
  id_characters: 255,
} as const;
