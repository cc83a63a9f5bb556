import { keepCompiledCode } from '../storage/compiled-code.js';
import { requireNode } from '../storage/required-node.js';

requireNode('npm start');
keepCompiledCode();
await (await import('./process.js')).runService();
