import { requireNode } from '../storage/required-node.js';

requireNode('npm run receiver');
await (await import('./shown-receiver.js')).runReceiver();
