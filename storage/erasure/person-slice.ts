import type { Vault } from '../model/vault.js';
import type { Transaction } from '../postgres/database.js';
import type { isNamed, PersonFields } from './person-fields.js';
import type { ErasedCounts } from './receipts.js';

/** Is told of workspaces in the transaction that erases something of theirs, perhaps again. */
export type OnErased = (tx: Transaction, workspaceIds: readonly string[]) => Promise<void>;

/** What a slice looks for, and from where on. */
export interface Search {
  /** Where people are named. */
  fields: PersonFields;
  /** Opens what is sealed. */
  vault: Vault;
  /** Of one workspace alone; null: of all. */
  workspaceId: string | null;
  named: ReturnType<typeof isNamed>;
  /** Null: nothing is erased. */
  onErased: OnErased | null;
  after: string;
}

/** What one slice did. */
export interface Slice {
  read: number;
  /** Where the next one goes on; null when this was the last one. */
  last: string | null;
  erased: Partial<ErasedCounts>;
  remaining: Partial<ErasedCounts>;
  /** Whose rows it found. */
  workspaceIds: string[];
}
