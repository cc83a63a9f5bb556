import { TRIGGERS } from '../../actors/simulated/triggers.js';
import { AUDIT_ACTIONS } from '../../storage/model/audit.js';
import type { StatusSteps } from '../../storage/model/status-steps.js';
import { DELIVERY_STEPS, OPERATION_STEPS } from '../../storage/model/transitions.js';
import { markdownTable } from '../docs/table.js';
import type { Route } from '../http/route.js';

/** The sections of the reference, by the resource that a path names last. */
const SECTIONS: Readonly<Record<string, string>> = {
  connections: 'Connections',
  operations: 'Operations',
  'reconnect-link': 'Connections',
  reconnect: 'Connections',
  accounts: 'Compatibility',
  subscriptions: 'Subscriptions',
  listener: 'Events',
  events: 'Events',
  'simulated-events': 'Events',
  deliveries: 'Deliveries',
  audit: 'Audit',
  keys: 'Keys',
  limits: 'Keys',
  operator: 'Operators',
  attention: 'Overview',
  overview: 'Overview',
  session: 'Console',
  live: 'Console',
  console: 'Console',
  pages: 'Reference',
  docs: 'Reference',
  'openapi.json': 'Reference',
};

/** The tag of the last resource that the path names. */
export function tagOf(path: string): string {
  const named = path
    .split('/')
    .reverse()
    .map((segment) => SECTIONS[segment])
    .find((tag) => tag !== undefined);
  return named ?? 'Service';
}

/** What each section has, the work of clients first. */
const DESCRIPTIONS: Readonly<Record<string, () => string>> = {
  Connections: () =>
    [
      'Accounts that operations run on: real ones, and synthetic ones for testing.',
      'Words in `external_actor.id` of a synthetic account, or in any string of an input, decide how an operation on it ends. A word is found wherever no letter or digit stands before it, and several may stand together:',
      triggerTable(),
    ].join('\n\n'),
  Operations: () =>
    [
      'Work on a connection: stored when it is accepted, run when its turn comes, kept with its outcome.',
      stepTable(OPERATION_STEPS),
    ].join('\n\n'),
  Subscriptions: () => 'Addresses that events are pushed to.',
  Events: () => 'What happened on a connection, and how well it is listened to.',
  Deliveries: () =>
    ['Events on their way to subscriptions, at least once each.', stepTable(DELIVERY_STEPS)].join('\n\n'),
  Overview: () => 'What happened in the last hour, and what needs somebody now.',
  Audit: () => ['Who did what, on what, from where, when. These are the actions:', actionTable()].join('\n\n'),
  Keys: () => 'The keys of a workspace, and what operators do with them.',
  Operators: () =>
    'What spans the workspaces of the installation, for those who run it: it needs the key of an operator, and no `Console-Workspace`.',
  Console: () => 'What the console of operators asks for beside the rest: it works with a session in place of a key.',
  Compatibility: () => 'A route in the shape of an earlier interface.',
  Service: () => 'Whether the service works.',
  Reference: () => 'This document, for programs and for people.',
};

/** The sections that have a route, in the order in which a reader needs them. */
export function tagsOf(routes: readonly Route[]): object[] {
  const used = new Set(routes.map((route) => tagOf(route.path)));
  return Object.entries(DESCRIPTIONS).flatMap(([name, describe]) =>
    used.has(name) ? [{ name, description: describe() }] : [],
  );
}

function actionTable(): string {
  const rows = Object.entries(AUDIT_ACTIONS).map(([action, meaning]) => [`\`${action}\``, meaning]);
  return markdownTable(['action', 'what it tells'], rows);
}

function triggerTable(): string {
  const rows = TRIGGERS.map(({ word, meaning, example }) => [`\`${word}\``, meaning, `\`${example}\``]);
  return markdownTable(['word', 'what it does', 'example'], rows);
}

function stepTable<Status extends string>(steps: StatusSteps<Status>): string {
  const rows = steps.statuses.map((status) => {
    const next = steps.after(status).map((one) => `\`${one}\``);
    return [`\`${status}\``, next.join(', ') || 'nothing: it has ended'];
  });
  return markdownTable(['status', 'may become'], rows);
}
