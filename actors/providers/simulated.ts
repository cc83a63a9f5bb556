import { setTimeout as delay } from 'node:timers/promises';
import type { Sql } from '../../storage/postgres/database.js';
import type { CapabilityName, InputOf } from '../capabilities/signatures.js';
import type { Execution, Outcome, ProviderRuntime } from '../operations/execution.js';
import { downloadFile } from '../simulated/files.js';
import { getCompany, getIdentity, getProfile, listConnections, resolveHashIds } from '../simulated/identity.js';
import { conversationWithRecipient, listConversations, searchConversations } from '../simulated/inbox.js';
import { listSentInvitations, sendInvitation } from '../simulated/invitations.js';
import { searchJobs } from '../simulated/jobs-search.js';
import { listMessages } from '../simulated/messages.js';
import { searchPeople } from '../simulated/people-search.js';
import { searchCandidates } from '../simulated/recruiter-search.js';
import { selfOf } from '../simulated/relationship.js';
import type { Answering } from '../simulated/request.js';
import { sendAttachment, sendMessage } from '../simulated/sending.js';
import { checkHealth, login, passChallenge, switchRecruiter } from '../simulated/session.js';
import { simulatedStore } from '../simulated/store.js';
import { triggersOf } from '../simulated/triggers.js';
import { recruiterTypeahead, typeahead } from '../simulated/typeahead.js';

/**
 * Answers the operations of simulated connections from a network that is drawn from the account that asks: the same
 * question has the same answer, on any thread and after any restart, and nothing is stored for it. What operations
 * did is remembered through their own rows and events.
 *
 *     triggers ─▶ delay ─▶ challenge ─▶ failure or skip, if one is asked for ─▶ the capability's answer
 *                                                     (a write: look-ups, boundary(), then its effects)
 */
export interface SimulatedDependencies {
  db: Sql;
  /** Milliseconds since 1970; what messages are stamped with. */
  clock?: () => number;
}

type Answers = { [Name in CapabilityName]: Answering<Name> };

const ANSWERS: Answers = {
  'social.login': login,
  'social.health.check': checkHealth,
  'social.recruiter.switch': switchRecruiter,
  'social.identity.get': getIdentity,
  'social.profile.get': getProfile,
  'social.hash_ids.resolve': resolveHashIds,
  'social.connections.list': listConnections,
  'social.company.get': getCompany,
  'social.invitations.sent.list': listSentInvitations,
  'social.typeahead': typeahead,
  'social.people.search': searchPeople,
  'social.jobs.search': searchJobs,
  'social.recruiter.typeahead': recruiterTypeahead,
  'social.recruiter.people.search': searchCandidates,
  'social.conversations.list': listConversations,
  'social.conversations.search': searchConversations,
  'social.conversation.with_recipient': conversationWithRecipient,
  'social.messages.list': listMessages,
  'social.message.send': sendMessage,
  'social.invitation.send': sendInvitation,
  'social.attachment.send': sendAttachment,
  'social.file.download': downloadFile,
};

/** One a thread: it batches the look-ups of all the operations that run there. */
export function createSimulatedProvider({ db, clock = Date.now }: SimulatedDependencies): ProviderRuntime {
  const store = simulatedStore(db);

  function answerTo<Name extends CapabilityName>(name: Name, execution: Execution): Outcome | Promise<Outcome> {
    const answering: Answering<Name> = ANSWERS[name];
    const self = selfOf(execution.connection.actor_id ?? execution.connection.id);
    return answering({ input: execution.input as InputOf<Name>, self, execution, store, now: clock });
  }

  return {
    async run(execution) {
      const { capability, connection, input, signal } = execution;
      const { name } = capability;
      if (!isAnswered(name)) throw new Error(`no simulated answer to ${name}`);
      const triggers = triggersOf(connection.actor_id, input);
      signal.throwIfAborted();
      if (triggers.delay_ms > 0) await pause(triggers.delay_ms, signal);
      if (triggers.challenge && capability.challenges) await passChallenge(execution, triggers.challenge);
      if (triggers.failure) return { status: 'failed', failure: triggers.failure };
      if (triggers.skip) return { status: 'skipped', reason: triggers.skip };
      if (triggers.unknown && capability.kind === 'write') {
        await execution.boundary();
        return { status: 'outcome_unknown' };
      }
      return answerTo(name, execution);
    },
  };
}

function isAnswered(capability: string): capability is CapabilityName {
  return Object.hasOwn(ANSWERS, capability);
}

/** Waits, unless it is stopped from outside: then rejects with the reason. */
async function pause(delay_ms: number, signal: AbortSignal): Promise<void> {
  await delay(delay_ms, undefined, { signal }).catch(() => signal.throwIfAborted());
}
