import { randomUUID } from 'node:crypto';
import { settled, simulated, submit } from './api.js';

/** The first operation: an account, a question, its answer. A failure that another try may mend gets one, under a new key. */

const TRIES = 3;

const connection = await simulated();
console.log(`connection ${connection} is made`);

for (let tried = 1; ; tried++) {
  // Kept with the work it stands for, a key makes the submission safe to repeat, also after a crash of this program.
  const key = randomUUID();
  const accepted = await submit(connection, 'social.profile.get', { profile_id: 'ada-lovelace' }, key);
  console.log(`operation ${accepted.id} is ${accepted.status} under the key ${key}`);

  const repeated = await submit(connection, 'social.profile.get', { profile_id: 'ada-lovelace' }, key);
  console.log(`submitted again, it is the same one: ${repeated.id === accepted.id}`);

  const { status, result, error_code, error_details } = await settled(accepted);
  if (status === 'succeeded') {
    console.log(`it succeeded: ${JSON.stringify(result).slice(0, 200)}`);
    break;
  }
  console.log(`it ended ${status}: ${error_code}`);
  if (!error_details?.retryable || tried === TRIES) {
    process.exitCode = 1;
    break;
  }
}
