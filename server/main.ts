import { keepCompiledCode } from '../storage/process/compiled-code.js';
import { requireNode } from '../storage/process/required-node.js';

requireNode('npm start');
keepCompiledCode();
/** Bundled (`server/start/bundle.mjs`). */
const PROGRAM = new URL('../bundled/server/process.js', import.meta.url).href;
const { runService } = (await import(PROGRAM)) as typeof import('./process.js');
await runService();
