import { requireNode } from '../storage/process/required-node.js';

requireNode('npm run bench');
await (await import('./harness.js')).runBench();
