/** Bounds of inputs that their types do not hold. Past each the submission is refused with `validation_error`. */
export const LIMITS = {
  /** JSON text of all render content of one message. */
  render_content_bytes: 16 * 1024,
  /** Decoded bytes of one attachment. */
  attachment_bytes: 1_000_000,
  /** Titles of one recruiter search. */
  recruiter_titles: 10,
  /** Entries of any other list of a recruiter search. */
  recruiter_list_entries: 100,
  /** Findings about filters that are stored with a search that failed on them. */
  stored_findings: 50,
  /** Pages that one look reads, of so many messages. When more was written since, it tells so instead of how much it found. */
  look_pages: 10,
  look_page_messages: 20,
  /** Matches that a look shows. Past it they are several, and it reads no further. */
  look_matches: 10,
} as const;
