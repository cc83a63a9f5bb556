import typia from 'typia';
import type { FleetClient, FleetMember } from './members.js';

/** The recipient of a message, and a text unlike any other. */
interface Subject {
  person: string;
  text: string;
}

/** Only a session gets it. */
const FILE = 'https://files.social.test/samples/100000.bin';

/** Reads with and without a page, searches, a download and a send. Some results name the account that answered. */
const WORK: [capability: string, input: (subject: Subject) => object][] = [
  ['social.identity.get', () => ({})],
  ['social.conversations.list', () => ({})],
  ['social.health.check', () => ({})],
  ['social.people.search', () => ({ keywords: 'engineer', count: 5 })],
  ['social.message.send', ({ person, text }) => ({ recipient_actor_id: person, body: text })],
  ['social.file.download', () => ({ url: FILE })],
  ['social.jobs.search', () => ({ keywords: 'engineer', count: 5 })],
];

export interface FleetTally {
  /** Operations that ended. */
  done: number;
  latencies_ms: number[];
  /** What did not succeed, or answered for another account (I2 of `invariants.ts`). */
  failed: string[];
  /** Texts whose send was submitted, by username. */
  sent: Map<string, string[]>;
}

export const emptyTally = (): FleetTally => ({ done: 0, latencies_ms: [], failed: [], sent: new Map() });

/** Every member does one piece of work after another while `goesOn`, given how many it has done, holds; the tally counts along. */
export async function mixedWork(
  client: FleetClient,
  fleet: FleetMember[],
  goesOn: (done: number) => boolean,
  tally = emptyTally(),
): Promise<FleetTally> {
  const person = await findPerson(client, fleet);
  await Promise.all(
    fleet.map(async (member, first) => {
      for (let number = first; goesOn(number - first); number++) {
        const text = `Hello number ${number} from ${member.username}`;
        await oneOperation(
          client,
          member,
          WORK[number % WORK.length] as (typeof WORK)[number],
          { person, text },
          tally,
        );
      }
    }),
  );
  return tally;
}

async function oneOperation(
  client: FleetClient,
  member: FleetMember,
  [capability, input]: (typeof WORK)[number],
  subject: Subject,
  tally: FleetTally,
): Promise<void> {
  const { username, connectionId, actorId } = member;
  if (capability === 'social.message.send') {
    tally.sent.set(username, [...(tally.sent.get(username) ?? []), subject.text]);
  }
  const startedAt = performance.now();
  const operation = await client.run(connectionId, capability, input(subject));
  tally.latencies_ms.push(performance.now() - startedAt);
  tally.done += 1;
  const { actor_id = actorId } = operation.result ?? {};
  if (operation.status !== 'succeeded') tally.failed.push(`${capability}: ${operation.error_code}`);
  if (actor_id !== actorId) tally.failed.push(`${username} saw another account`);
}

const assertPeople = typia.createAssert<{ people: { hash_id: string }[] }>();

/** A member to write to. */
async function findPerson(client: FleetClient, [first]: FleetMember[]): Promise<string> {
  if (!first) throw new Error('a fleet has at least one account');
  const found = await client.run(first.connectionId, 'social.people.search', { keywords: 'engineer', count: 1 });
  return assertPeople(found.result).people[0]?.hash_id ?? '';
}
