import type { Test } from 'tap';

/** The test of the file that this process runs: the `t` that the file gets when it imports `tap`. */
let current: Test | undefined;

export function begin(test: Test): void {
  current = test;
}

export function currentTest(): Test {
  if (!current) throw new Error('no file is run');
  return current;
}
