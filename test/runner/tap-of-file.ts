import { currentTest } from './current.js';

/** What a test file gets for `tap` in a lane (lane.ts): evaluated once for each file, as `tap-of-file.js?of=<file>`. */
export default currentTest();
