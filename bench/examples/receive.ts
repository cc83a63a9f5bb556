import { requireNode } from '../../storage/process/required-node.js';

requireNode('npm run receiver');
await (await import('./shown-receiver.js')).runReceiver();
