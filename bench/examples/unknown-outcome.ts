import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { call, type Operation, Refused, settled, simulated, submit } from './api.js';

/**
 * A message whose answer was lost: it may have arrived or not. `reconcile` has the service look at the conversation; only then it
 * is decided whether to send again. The words `sim-unknown` and `sim-unknown-written` have the answer lost, without the message and with it.
 */

const connection = await simulated();

for (const trigger of ['sim-unknown', 'sim-unknown-written']) {
  const text = `Hello Grace, this is ${randomUUID()}`;
  const send = (body: string) => submit(connection, 'social.message.send', { recipient_actor_id: 'grace', body });
  const first = await settled(await send(`${text} ${trigger}`));
  console.log(`${trigger}: the message is ${first.status}, its answer ended by ${first.evidence?.fault}`);
  if (first.status !== 'outcome_unknown') continue;

  const found = await look(first.id);
  if (found === 'none') {
    // Under a new key: the old one belongs to the operation that stays unknown.
    const second = await settled(await send(text));
    console.log(`${trigger}: it is not there, so it was sent anew: ${second.status}`);
  } else if (found === 'one') {
    console.log(`${trigger}: it is there, so nothing is sent`);
  } else {
    console.log(`${trigger}: a person has to look, ${found ?? 'nothing could be seen'}`);
  }
}

/** What stands where the message would: `one`, `none` or `several`; null when that could not be told. */
async function look(id: string): Promise<string | null> {
  for (let tried = 1; tried <= 5; tried++) {
    try {
      const { evidence } = await call<Operation>('POST', `/v1/operations/${id}/reconcile`);
      if (evidence?.look?.found) return evidence.look.found;
      console.log(`the look is not done: ${evidence?.look?.reason ?? 'under way'}`);
    } catch (error) {
      if (!(error instanceof Refused) || error.code !== 'connection_busy') throw error;
      console.log('another operation of the account runs');
    }
    await delay(tried * 1000);
  }
  return null;
}
