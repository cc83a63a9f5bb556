import { join } from 'node:path';

declare global {
  interface ImportMeta {
    /** True in a bundle (`server/start/bundle.mjs`). */
    readonly bundled?: true;
  }
}

/** What runs as a process or thread of its own, by the module that it begins with. */
export type Program = 'actors/host' | 'browser-pool/host' | 'bench/sandbox/main' | 'storage/postgres/keeper';

/** The file of a program: its bundle for what runs in a bundle itself, else the compiled module. */
export function programFile(program: Program): string {
  return join(import.meta.dirname, '..', import.meta.bundled ? 'bundled' : '', `${program}.js`);
}
