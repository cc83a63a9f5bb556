import { parseArgs } from 'node:util';
import { LIMITS } from './limits.js';
import { startNetwork } from './network.js';

/**
 * The stand-in network as a process of its own:
 *
 *     node dist/bench/sandbox/main.js --data-dir DIR [--control-port N] [--seed WORD] [--stay]
 *
 * Prints one JSON line when it is up. Ends on SIGTERM and SIGINT, and when its standard input closes: its
 * parent process is gone then. With `--stay` it outlives its input, as a network that several services share does.
 */
const { values } = parseArgs({
  options: {
    'data-dir': { type: 'string' },
    'control-port': { type: 'string', default: '0' },
    seed: { type: 'string', default: 'social' },
    stay: { type: 'boolean', default: false },
  },
});
const dataDir = values['data-dir'];
const controlPort = Number(values['control-port']);
if (dataDir === undefined || !Number.isInteger(controlPort) || controlPort < 0 || controlPort > 65_535) {
  process.stderr.write('usage: main.js --data-dir DIR [--control-port N] [--seed WORD] [--stay]\n');
  process.exit(2);
}

const network = await startNetwork({ dataDir, controlPort, seed: values.seed });

let ending = false;
function end(): void {
  if (ending) return;
  ending = true;
  // A client that keeps its connection open must not keep the process.
  setTimeout(() => process.exit(0), LIMITS.shutdown_ms).unref();
  void network.close().finally(() => process.exit(0));
}
process.on('SIGTERM', end);
process.on('SIGINT', end);
if (!values.stay) process.stdin.on('end', end).on('close', end).on('error', end).resume();

process.stdout.write(`${JSON.stringify(network.ready)}\n`);
