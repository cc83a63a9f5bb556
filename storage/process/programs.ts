import { join } from 'node:path';

/** What runs as a process or thread of its own, by the module that it begins with. */
export type Program =
  | 'actors/thread/host'
  | 'browser-pool/host'
  | 'bench/sandbox/main'
  | 'storage/postgres/embedded/keeper';

/** The file of a program: its bundle, which the build has made of the compiled modules. */
export const programFile = (program: Program): string => join(import.meta.dirname, '../../bundled', `${program}.js`);
