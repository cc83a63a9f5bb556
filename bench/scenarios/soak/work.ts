import type { SeededRandom } from '../../sandbox/data/seeded-random.js';
import type { Worked } from './messages.js';

export interface Work {
  capability: string;
  input: object;
}

/** Work of a simulated connection: writes to others, each of which records events, and reads. `mark` is unlike any other. */
export function simulatedWork(random: SeededRandom, self: Worked, connections: readonly Worked[], mark: string): Work {
  const dice = random.next();
  if (dice < 0.4) {
    const { actor } = random.pick(connections);
    // What is sent to oneself is skipped.
    const recipient_actor_id = actor === self.actor ? `stranger-${mark}` : actor;
    return { capability: 'social.message.send', input: { recipient_actor_id, body: `Hello (${mark})` } };
  }
  if (dice < 0.45) return { capability: 'social.invitation.send', input: { recipient_actor_id: `stranger-${mark}` } };
  // An inbox reads up to 2,000 messages: while its history is shorter, it costs more each time. So there are few.
  if (dice < 0.48) return { capability: 'social.conversations.list', input: { count: 5 } };
  if (dice < 0.75) return { capability: 'social.people.search', input: { keywords: 'engineer', count: 3 } };
  return { capability: 'social.identity.get', input: {} };
}

/** Work of a connection on the network: reads, with a page and without, and a message now and then. */
export function socialWork(random: SeededRandom, person: string, mark: string): Work {
  const dice = random.next();
  if (dice < 0.15) {
    return { capability: 'social.message.send', input: { recipient_actor_id: person, body: `Hello (${mark})` } };
  }
  if (dice < 0.4) return { capability: 'social.conversations.list', input: { count: 5 } };
  if (dice < 0.6) return { capability: 'social.people.search', input: { keywords: 'engineer', count: 3 } };
  if (dice < 0.8) return { capability: 'social.health.check', input: {} };
  return { capability: 'social.identity.get', input: {} };
}
