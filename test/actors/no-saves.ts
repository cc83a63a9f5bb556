/** Nothing is renewed, and nobody else uses a session. */
export const NO_SAVES = { save: () => {}, settled: () => undefined, use: () => () => {}, quiet: async () => {} };
