import { keepCompiledCode } from '../storage/process/compiled-code.js';
import { requireNode } from '../storage/process/required-node.js';

requireNode('npm run admin');
keepCompiledCode();
/** Bundled (`server/start/bundle.mjs`). */
const PROGRAM = new URL('../bundled/server/admin/command.js', import.meta.url).href;
const { runCommand } = (await import(PROGRAM)) as typeof import('./admin/command.js');
await runCommand();
