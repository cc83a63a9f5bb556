import { registerHooks } from 'node:module';

/*
 * Loaded before a lane (`node --import`). A test file gets a test of its own for the `t` of its process (tap-of-file.ts), and tap learns of errors
 * that no test could catch in a way that costs less (uncaught.ts).
 */
const TAP = import.meta.resolve('tap');
const TAP_OF_FILE = import.meta.resolve('./tap-of-file.js');
const UNCAUGHT = import.meta.resolve('./uncaught.js');
const LANE = import.meta.resolve('./lane.js');

registerHooks({
  resolve(specifier, context, next) {
    if (specifier === 'async-hook-domain') return { url: UNCAUGHT, format: 'module', shortCircuit: true };
    const resolved = next(specifier, context);
    if (resolved.url !== TAP || !context.parentURL || context.parentURL === LANE) return resolved;
    return { ...resolved, url: `${TAP_OF_FILE}?of=${encodeURIComponent(context.parentURL)}` };
  },
});
