import { json } from 'node:stream/consumers';
import type { RunOrder } from '../../browser-pool/messages.js';
import type { Site } from '../../browser-pool/social/site/site.js';
import { Pool } from './pool.js';

/**
 * A process that runs one write, and freezes itself between the permission to send and the request: the permission lasts one
 * second, and the process stands still until somebody lets it go on. Its order comes as JSON on stdin; it prints `frozen`, and
 * later the end of its run as JSON.
 */
const { site, order } = (await json(process.stdin)) as { site: Site; order: RunOrder };
const pool = new Pool(site);
const run = pool.channel.run(order);
await run.expect('boundary');
process.stdout.write('frozen\n');
run.proceed(1_000); // leaves this thread at the end of the turn, which is after the freeze
process.kill(process.pid, 'SIGSTOP');
process.stdout.write(`${JSON.stringify(await run.next())}\n`);
await pool.close();
