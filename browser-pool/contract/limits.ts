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
} as const;
