/** One write the network received and committed. */
export interface LedgerEntry {
  id: string;
  /** Username. */
  account: string;
  kind: 'message' | 'invitation' | 'attachment';
  /** As the sender named it: a conversation id or a hash id. */
  target: string;
  text: string;
  /** ISO 8601. */
  at: string;
}

/** Every write, in the order it was committed. Nothing ever leaves it. */
export class Ledger {
  readonly #entries: LedgerEntry[] = [];
  readonly #byAccount = new Map<string, LedgerEntry[]>();

  apply(entry: LedgerEntry): void {
    this.#entries.push(entry);
    const own = this.#byAccount.get(entry.account);
    if (own === undefined) this.#byAccount.set(entry.account, [entry]);
    else own.push(entry);
  }

  entries(account?: string): readonly LedgerEntry[] {
    return account === undefined ? this.#entries : (this.#byAccount.get(account) ?? []);
  }
}
