/** The bounds of `mutate`, each with its unit in the name. */
export const LIMITS = {
  /** What a test file may take. Past it the fault is caught, where the test takes less than half of it without the fault; else the test judges nothing. */
  test_ms: 60_000,
  /** Characters of a change that the report shows. */
  shown_characters: 90,
} as const;
