import { requireNode } from '../storage/required-node.js';

requireNode('npm run bench');
await (await import('./harness.js')).runBench();
