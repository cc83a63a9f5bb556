import { capabilities } from '../../../actors/capabilities/catalogue.js';
import { HASH_ID } from '../../../actors/capabilities/example-values.js';
import type { Verification } from '../../../actors/deliveries/callback/callback-verifier.js';
import { OPERATION_ERRORS, type OperationErrorCode } from '../../../storage/model/error-codes.js';
import type { ConflictJson, ErrorJson } from '../../http/answer.js';
import type {
  InvitationInput,
  InvitationQueuedJson,
  InvitationSentJson,
} from '../../routes/connections/invitations.js';
import type { CanceledJson, CancelManyInput } from '../../routes/operations/cancel-many.js';
import type { ChallengeInput, CodeAcceptedJson } from '../../routes/operations/operation-actions.js';
import type { SubmittedInputJson } from '../../routes/operations/operation-input.js';
import type { OperationsJson } from '../../routes/operations/operations.js';
import type { DryRunJson } from '../../routes/operations/submission.js';
import { cursorOf, sliceCursor } from '../../routes/paging.js';
import type { OpenapiJson } from '../openapi-json.js';
import { audit } from './audit.js';
import * as connections from './connections.js';
import * as consoles from './consoles.js';
import * as events from './events.js';
import { INPUTS } from './inputs.js';
import * as installation from './installation.js';
import * as operations from './operations.js';
import * as overview from './overview.js';
import * as links from './reconnect-links.js';
import * as subscriptions from './subscriptions.js';
import { AT, CHALLENGE, CONNECTION, OPERATION, REFERENCE, TOMORROW } from './values.js';

const [first] = capabilities;
if (!first) throw new Error('no capability');

const openapi: OpenapiJson = {
  openapi: '3.1.0',
  info: { title: 'Connection, Operation and Event API', version: 'v1' },
  paths: {},
  webhooks: {},
  components: {},
};
const submitted: SubmittedInputJson = {
  operation_id: OPERATION,
  capability: 'social.message.send',
  input: { recipient_actor_id: HASH_ID },
  hidden: ['body'],
};
const challenge: ChallengeInput = { challenge_id: CHALLENGE, code: '000000' };
const cancelMany: CancelManyInput = {
  connection_id: CONNECTION,
  reference: REFERENCE,
  capability: 'social.message.send',
  created_after: AT,
  created_before: TOMORROW,
  cursor: sliceCursor({
    behind: { created_us: Date.parse(AT) * 1000, id: CONNECTION },
    mailbox: CONNECTION,
    operation: OPERATION,
  }),
};
const canceled: CanceledJson = { canceled: 20, next_cursor: null };
const accepted: CodeAcceptedJson = { status: 'accepted' };
const dryRun: DryRunJson = { valid: true };
const list: OperationsJson = { operations: [operations.queued(first)], next_cursor: cursorOf(OPERATION) };

const verification: Verification = { type: 'subscription.verification', challenge: 'a-random-text' };

const invitation: InvitationInput = { hash_id: 'ACoAAGrace1', message: 'Shall we connect?', return_original: true };
const sent: InvitationSentJson = {
  data: { result: { code: 'sent', message: 'Invitation sent' }, original: { status: 'sent' } },
};
const underWay: InvitationQueuedJson = { data: { operation_id: OPERATION, status: 'queued' } };

/** Values of components that a reader wants to see filled in, by the component's name in the document. */
export const EXAMPLES: Readonly<Record<string, unknown[]>> = {
  ...INPUTS,
  Openapi: [openapi],
  Audit: [audit],
  ServiceHealth: [connections.healthy],
  ServiceUnavailable: [connections.unhealthy],
  Unready: [connections.unready],
  Connection: [connections.connection, connections.created, connections.synthetic],
  Connections: [connections.list],
  NewSocialInput: [connections.newSocial],
  NewSimulatedInput: [connections.newSimulated],
  NewConnectionInput: [connections.newSimulated, connections.newSocial],
  ConnectionPatchInput: [connections.patch],
  NamesInput: [connections.names],
  Disconnected: [connections.disconnected],
  SignInInput: [consoles.signIn],
  Session: [consoles.session, consoles.operator],
  Workspaces: [installation.workspaces],
  Nodes: [installation.nodes],
  Proxies: [installation.proxies],
  Attention: [overview.attention],
  Overview: [overview.overview],
  InstallationOverview: [overview.installation],
  Keys: [installation.keys],
  Limits: [installation.limits],
  NewKeyInput: [installation.newKeyInput],
  NewKey: [installation.newKey],
  RotateKeyInput: [installation.rotateKey],
  RotatedKey: [installation.rotatedKey],
  RevokedKey: [installation.revokedKey],
  ReconnectLink: [links.link],
  OpenLinkInput: [links.open],
  PageInput: [links.page],
  LinkLoginInput: [links.login],
  LinkCodeInput: [links.code],
  OpenedLink: [links.opened],
  LinkProgress: [links.waiting, links.refused],
  QueuedOperation: [operations.queued(first)],
  RunningOperation: [operations.running],
  WaitingOperation: [operations.waiting],
  FailedOperation: (Object.keys(OPERATION_ERRORS) as OperationErrorCode[]).map(operations.failed),
  CanceledOperation: [operations.canceled],
  SkippedOperation: [operations.skipped],
  UnknownOperation: operations.unknown,
  Operations: [list],
  SubmittedInput: [submitted],
  DryRun: [dryRun],
  ChallengeInput: [challenge],
  CancelManyInput: [cancelMany],
  Canceled: [canceled],
  CodeAccepted: [accepted],
  InvitationInput: [invitation],
  InvitationSent: [sent],
  InvitationQueued: [underWay],
  Subscription: [subscriptions.subscription, subscriptions.paused],
  Subscriptions: [subscriptions.list],
  NewSubscription: [subscriptions.created],
  SubscriptionDetail: [subscriptions.detail],
  NewSubscriptionInput: [subscriptions.newSubscription],
  SubscriptionTargetInput: [subscriptions.target],
  SubscriptionPatchInput: [subscriptions.patch],
  RotatedSecret: [subscriptions.rotated],
  Listener: [events.listener],
  EventSummary: [events.summary],
  Events: [events.list],
  MessageReceivedEvent: [events.events.message_received],
  MessageSentEvent: [events.events.message_sent],
  SponsoredInmailReceivedEvent: [events.events.sponsored_inmail_received],
  CustomConnectionRequestAcceptedEvent: [events.events.custom_connection_request_accepted],
  StreamDegradedEvent: [events.events['connection.stream_degraded']],
  StreamRestoredEvent: [events.events['connection.stream_restored']],
  NeedsLoginEvent: [events.events['connection.needs_login']],
  InvalidEvent: [events.events['connection.invalid']],
  ReadyEvent: [events.events['connection.ready']],
  WaitingUserEvent: [events.events['operation.waiting_user']],
  FinishedEvent: [events.events['operation.finished']],
  ExhaustedEvent: [events.events['delivery.exhausted']],
  TestEvent: [events.events['subscription.test']],
  Verification: [verification],
  SimulatedEventInput: [events.simulatedEvent],
  Delivery: [subscriptions.delivery, subscriptions.replayed],
  DeliveryDetail: [subscriptions.deliveryDetail],
  Deliveries: [subscriptions.deliveries],
  ReplayFailedInput: [subscriptions.replayFailed],
  Replayed: [subscriptions.replayedCount],
  Conflict: [{ code: 'connection_busy' } satisfies ConflictJson],
  Error: [
    {
      code: 'validation_error',
      message: 'the request is not valid',
      errors: [{ path: 'body.region', expected: 'string & Pattern<"^[A-Za-z]{2}$">', value: 'Germany' }],
      more_errors: 2,
    } satisfies ErrorJson,
  ],
};
