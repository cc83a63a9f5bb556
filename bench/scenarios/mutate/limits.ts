/** The bounds of `mutate`, each with its unit in the name. */
export const LIMITS = {
  /** What a test file may take without a fault; one that takes longer judges none. */
  test_ms: 180_000,
  /** With a fault it may take this, and so many times as long as without: past that the fault is caught. */
  test_with_fault_ms: 20_000,
  times_as_long: 3,
  tests_at_a_time: 3,
  /** How often it is looked whether the processes of a test have ended, and the time between. */
  looks_for_end: 100,
  look_ms: 100,
  /** Characters of a change that the report shows. */
  shown_characters: 90,
} as const;
