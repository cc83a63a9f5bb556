import { join } from 'node:path';
import { Directory } from '../data/directory.js';
import { Relationships } from '../data/relationships.js';
import { type Account, type AccountSettings, Accounts } from './accounts.js';
import { type Attachment, Attachments } from './attachments.js';
import { Challenges } from './challenges.js';
import { type Invitation, Invitations } from './invitations.js';
import { Journal } from './journal.js';
import { Ledger, type LedgerEntry } from './ledger.js';
import { type Letter, Mailboxes } from './mailboxes.js';
import { Seats } from './seats.js';
import { type Session, Sessions } from './sessions.js';

/** What the journal holds. A write and its ledger entry are one record: there is never one without the other. */
export type StateRecord =
  | { type: 'account'; username: string; changes: Partial<AccountSettings> }
  | { type: 'session_opened'; session: Session }
  | { type: 'session_renewed'; token: string; renewed: string }
  | { type: 'session_ended'; token: string }
  | { type: 'letter'; letter: Letter; entry: LedgerEntry | null }
  | { type: 'invitation'; from: string; invitation: Invitation; entry: LedgerEntry }
  | { type: 'attachment'; attachment: Attachment }
  | { type: 'contract_chosen'; token: string; contractId: string }
  /** Two members became connections of each other. */
  | { type: 'connected'; one: string; other: string; at: number };

/**
 * All that the network remembers. Changes go through `commit` and nowhere else: the record is durable before it
 * takes effect, and it takes effect in the same way when it is read again after a restart.
 */
export class State {
  readonly directory: Directory;
  readonly relationships: Relationships;
  readonly accounts: Accounts;
  readonly sessions = new Sessions();
  readonly seats = new Seats();
  readonly challenges = new Challenges();
  readonly mailboxes: Mailboxes;
  readonly invitations: Invitations;
  readonly attachments: Attachments;
  readonly ledger = new Ledger();
  readonly #journal: Journal<StateRecord>;

  /** `directory` holds the journal and the uploaded files. */
  constructor(seed: string, directory: string) {
    this.directory = new Directory(seed);
    this.relationships = new Relationships(this.directory);
    this.accounts = new Accounts(this.directory);
    this.mailboxes = new Mailboxes(this.directory, this.relationships);
    this.invitations = new Invitations(this.directory, this.relationships);
    this.attachments = new Attachments(join(directory, 'files'));
    this.#journal = Journal.open(join(directory, 'journal.jsonl'), (record) => this.#apply(record));
  }

  commit(record: StateRecord): void {
    this.#journal.append(record);
    this.#apply(record);
  }

  /** The account of that name; made when it is new. */
  account(username: string): Account {
    const known = this.accounts.find(username);
    if (known !== undefined) return known;
    this.commit({ type: 'account', username, changes: {} });
    return this.accounts.find(username) as Account;
  }

  close(): void {
    this.#journal.close();
  }

  #apply(record: StateRecord): void {
    switch (record.type) {
      case 'account':
        this.accounts.apply(record.username, record.changes);
        return;
      case 'session_opened':
        this.sessions.applyOpened(record.session);
        return;
      case 'session_renewed':
        this.sessions.applyRenewed(record.token, record.renewed);
        this.seats.applyRenewed(record.token, record.renewed);
        return;
      case 'session_ended':
        this.sessions.applyEnded(record.token);
        this.seats.applyEnded(record.token);
        return;
      case 'letter':
        this.mailboxes.apply(record.letter);
        this.attachments.applySent(record.letter.attachmentIds ?? [], record.letter.people);
        if (record.entry !== null) this.ledger.apply(record.entry);
        return;
      case 'attachment':
        this.attachments.apply(record.attachment);
        return;
      case 'invitation':
        this.invitations.apply(record.from, record.invitation);
        this.ledger.apply(record.entry);
        return;
      case 'contract_chosen':
        this.seats.apply(record.token, record.contractId);
        return;
      case 'connected':
        this.relationships.connect(record.one, record.other, record.at);
        this.invitations.applyConnected(record.one, record.other);
        return;
      default:
        record satisfies never;
    }
  }
}
