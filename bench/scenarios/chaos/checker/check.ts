import type { Evidence } from '../evidence.js';
import * as acceptance from './acceptance.js';
import { Case } from './case.js';
import * as deliveries from './deliveries.js';
import * as endings from './endings.js';
import * as history from './history.js';
import * as level from './level.js';
import * as order from './order.js';
import * as orphans from './orphans.js';
import * as told from './told.js';
import type { Invariant, Violation } from './violation.js';
import * as writes from './writes.js';

/** Every promise that a chaos run is held to, by name. */
export const INVARIANTS = {
  acceptedHasRow: acceptance.acceptedHasRow,
  everyOperationEnds: acceptance.everyOperationEnds,
  oneOperationAKey: acceptance.oneOperationAKey,
  everyOperationWasAskedFor: acceptance.everyOperationWasAskedFor,
  operationIsAsSubmitted: acceptance.operationIsAsSubmitted,
  cancelStands: acceptance.cancelStands,
  shownEndsStand: acceptance.shownEndsStand,
  writtenOnce: writes.writtenOnce,
  successWasWritten: writes.successWasWritten,
  nothingDoneWasNotWritten: writes.nothingDoneWasNotWritten,
  noWriteAfterTheEnd: writes.noWriteAfterTheEnd,
  everyWriteWasAskedFor: writes.everyWriteWasAskedFor,
  writesAreOfOneAccount: writes.writesAreOfOneAccount,
  unknownIsOfWrites: endings.unknownIsOfWrites,
  neverInternalError: endings.neverInternalError,
  everyFailureHasACause: endings.everyFailureHasACause,
  endsAsAsked: endings.endsAsAsked,
  endIsWhole: endings.endIsWhole,
  timelineIsOneWalk: history.timelineIsOneWalk,
  attemptsFollowEachOther: history.attemptsFollowEachOther,
  noAttemptAfterTheBoundary: history.noAttemptAfterTheBoundary,
  effectsAreOfSuccesses: history.effectsAreOfSuccesses,
  ranInOrder: order.ranInOrder,
  writtenInOrder: order.writtenInOrder,
  oneRunsAtATime: order.oneRunsAtATime,
  everyMatchHasADelivery: deliveries.everyMatchHasADelivery,
  everyDeliveryMatches: deliveries.everyDeliveryMatches,
  everyDeliveryArrived: deliveries.everyDeliveryArrived,
  noDeliveryIsGivenUpEarly: deliveries.noDeliveryIsGivenUpEarly,
  everyCallbackIsSigned: deliveries.everyCallbackIsSigned,
  everyCallbackIsOfADelivery: deliveries.everyCallbackIsOfADelivery,
  endsAreToldOnce: told.endsAreToldOnce,
  toldEndsAreEnds: told.toldEndsAreEnds,
  mailboxesHoldLiveOperations: orphans.mailboxesHoldLiveOperations,
  noOrphanWasSeen: orphans.noOrphanWasSeen,
  openMailboxesAreInHand: orphans.openMailboxesAreInHand,
  oneIsUnderWay: orphans.oneIsUnderWay,
  noDeliveryIsLeftSending: orphans.noDeliveryIsLeftSending,
  jobsAreOfWaitingSubscriptions: orphans.jobsAreOfWaitingSubscriptions,
  filesAreOfSuccesses: orphans.filesAreOfSuccesses,
  listenersAreAlive: orphans.listenersAreAlive,
  everyPartitionIsOwned: orphans.everyPartitionIsOwned,
  memoryStaysLevel: level.memoryStaysLevel,
  handlesStayLevel: level.handlesStayLevel,
  connectionsStayLevel: level.connectionsStayLevel,
  contextsStayLevel: level.contextsStayLevel,
} as const satisfies Record<string, Invariant>;

/** What a run broke of what was promised; empty when it kept everything. Reads the evidence alone, in n log n of its size. */
export function check(evidence: Evidence): Violation[] {
  const run = new Case(evidence);
  return Object.entries<Invariant>(INVARIANTS).flatMap(([invariant, breaches]) =>
    Array.from(breaches(run), (what) => ({ invariant, what })),
  );
}
