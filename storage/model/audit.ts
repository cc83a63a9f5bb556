/**
 * What the audit log records (HTTP-30), each action with what it tells. The vocabulary is closed: an entry of any other does not compile, and
 * the reference and the contract list these.
 */
export const AUDIT_ACTIONS = {
  'connection.create': 'A connection was made.',
  'connection.update': 'Password or region of a connection was changed.',
  'connection.rename': 'A client’s own id or labels of a connection were changed.',
  'connection.disconnect': 'The session of a connection was cleared, and what waited was canceled.',
  'connection.delete': 'A connection was deleted with its history.',
  'reconnect_link.create': 'A link was made by which the owner of an account can sign it in.',
  'reconnect_link.use': 'The owner of an account signed it in by a link.',
  'operation.submit': 'Operations were submitted: one entry for those that one sender had stored in one transaction.',
  'operation.cancel': 'The end of an operation was requested.',
  'operation.cancel_many': 'Operations of a connection that had not begun were canceled.',
  'operation.reconcile': 'A look for what a write of unknown outcome left was requested.',
  'operation.reveal': 'An operator read operations with their results.',
  'operation.reveal_input': 'The input of an operation was read.',
  'challenge.answer': 'A code was given to an operation that waits for one.',
  'subscription.create': 'A subscription was made.',
  'subscription.update': 'A subscription was activated or deactivated.',
  'subscription.change': 'A subscription got other types or another address.',
  'subscription.delete': 'A subscription was deleted.',
  'subscription.hold': 'A subscription was put on hold.',
  'subscription.release': 'The hold of a subscription was ended.',
  'subscription.rotate_secret': 'A subscription got another secret.',
  'subscription.test': 'A test event was sent to a subscription.',
  'event.simulate': 'An event of a simulated connection was recorded.',
  'event.reveal': 'An operator read an event with its data.',
  'delivery.replay': 'A failed delivery was put back into the queue.',
  'delivery.replay_failed': 'Failed deliveries of a subscription were put back into the queue.',
  'delivery.reveal_body': 'The body of a delivery was read.',
  'key.create': 'A key of a workspace was made.',
  'key.rotate': 'A key was replaced by another.',
  'key.revoke': 'A key was revoked.',
  'console.sign_in': 'A session of the console began.',
  'console.sign_in_refused': 'A key was refused at the sign-in of the console.',
  'console.sign_out': 'A session of the console was ended by its user.',
  'workspace.create': 'A workspace was made.',
  'limit.set': 'A workspace got a limit of its own.',
  'limit.clear': 'A workspace lost a limit of its own.',
  'operator.create': 'An operator was made.',
  'operator.rotate': 'The key of an operator was replaced by another.',
  'operator.revoke': 'An operator was revoked.',
  'proxy.add': 'A regional proxy was added.',
  'proxy.remove': 'A regional proxy was removed.',
  'encryption.rotate': 'What is sealed was sealed again under the first key.',
  'encryption.adopt': 'The keys of an environment were noted as those of the installation.',
  'erase.connection': 'A connection was erased at a request.',
  'erase.person': 'What names a person was erased at a request.',
  'restore.settle': 'Writes that a backup held as queued or running were ended.',
  'audit.archive': 'A part of the audit log was written into a file.',
  'audit.drop': 'A part of the audit log that was archived was dropped.',
  'command.read': 'A command that changes nothing was run on the command line.',
} as const satisfies Readonly<Record<string, string>>;

/** What was done: one of the actions that the audit log knows, such as `connection.create`. */
export type AuditAction = keyof typeof AUDIT_ACTIONS;

export function isAuditAction(text: string): text is AuditAction {
  return Object.hasOwn(AUDIT_ACTIONS, text);
}

/**
 * Who did it: `key`, a program with a key of a workspace; `operator`, one with an operator's key; `key_session` and `operator_session`,
 * somebody at the console who signed in with such a key; `command_line`, who has the command line; `link`, the owner of an account by a
 * reconnect link; `unknown`, somebody whose key was refused.
 */
export type AuditActorKind =
  | 'key'
  | 'operator'
  | 'key_session'
  | 'operator_session'
  | 'command_line'
  | 'link'
  | 'unknown';

/** What it was done to: a `connection`, `operation`, `subscription`, `event`, `delivery`, `key`, `operator`, `workspace` or `proxy`. */
export type AuditTargetKind =
  | 'connection'
  | 'operation'
  | 'subscription'
  | 'event'
  | 'delivery'
  | 'key'
  | 'operator'
  | 'workspace'
  | 'proxy';

export interface AuditActor {
  kind: AuditActorKind;
  /** Of the key, operator or link; null of others. */
  id: string | null;
  /** As people called it then; of the command line the account and the machine. */
  name: string | null;
}

/** Somebody, and where from. */
export interface AuditSender extends AuditActor {
  /** Null of the command line. */
  address: string | null;
}

/** What a new entry tells. */
export interface NewAuditEntry {
  actor: AuditSender;
  action: AuditAction;
  /** Null for what spans workspaces. */
  workspaceId: string | null;
  targets: readonly AuditTarget[];
  /** Of the request that asked for it (HTTP-3): kept where it has the form of an id, as a client may write what it likes. */
  requestId: string | null;
  /** What else tells it apart: few short values, never a secret nor a text that a user wrote. */
  details?: Readonly<Record<string, string | number | boolean>> | undefined;
}

export type AuditTarget = readonly [kind: AuditTargetKind, id: string];
