import { keepCompiledCode } from '../storage/compiled-code.js';
import { requireNode } from '../storage/required-node.js';

requireNode('npm run admin');
keepCompiledCode();
await (await import('./admin/command.js')).runCommand();
