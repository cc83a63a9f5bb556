import { createInterface } from 'node:readline';
import { call, Refused, settled, simulated, submit } from './api.js';

/** A login that asks its user for a code: the operation waits, the user types what came by mail, the operation goes on. */

const connection = await simulated(`sim-challenge-email-${Date.now()}`);
const lines = createInterface({ input: process.stdin })[Symbol.asyncIterator]();

let operation = await settled(await submit(connection, 'social.login', {}));
while (operation.status === 'waiting_user' && operation.challenge) {
  const { id, kind, expires_at, accepts_code } = operation.challenge;
  if (!accepts_code) {
    console.log(`the provider asks for a ${kind}, which no code answers: the login is given up`);
    operation = await call('POST', `/v1/operations/${operation.id}/cancel`);
    break;
  }
  console.log(`the provider has sent a code by ${kind}; until ${expires_at} it takes it (here 000000). Code?`);
  const { value: code, done } = await lines.next();
  if (done) break;
  await answer(operation.id, id, code.trim());
  operation = await moved(operation.id, id);
}
console.log(`the login is ${operation.status}${operation.error_code ? `: ${operation.error_code}` : ''}`);
process.exitCode = operation.status === 'succeeded' ? 0 : 1;
process.stdin.destroy();

async function answer(operationId: string, challenge_id: string, code: string): Promise<void> {
  try {
    await call('POST', `/v1/operations/${operationId}/challenge`, { challenge_id, code });
    console.log('the operation has the code');
  } catch (error) {
    // It expired meanwhile, or was answered from elsewhere: what the operation says now goes on.
    if (!(error instanceof Refused) || error.code !== 'challenge_not_accepting_code') throw error;
    console.log('the challenge takes no code any more');
  }
}

/** The operation once it has left this challenge: it has ended, or asks anew because the code was wrong. */
async function moved(operationId: string, challengeId: string) {
  for (;;) {
    const now = await settled({ id: operationId });
    if (now.challenge?.id !== challengeId) return now;
  }
}
