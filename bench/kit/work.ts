import { InvalidArgumentError } from 'commander';

/** What scenarios submit to simulated connections. */
export const WORK = {
  read: { capability: 'social.profile.get', input: { profile_id: 'ada-lovelace' } },
  write: { capability: 'social.message.send', input: { recipient_actor_id: 'ada-lovelace', body: 'Hello' } },
} as const;

export type WorkKind = keyof typeof WORK;

/** Throws InvalidArgumentError on any other word. */
export function workKinds(text: string): WorkKind[] {
  if (text === 'both') return ['read', 'write'];
  if (text === 'read' || text === 'write') return [text];
  throw new InvalidArgumentError(`--kind ${text}: it wants read, write or both`);
}
