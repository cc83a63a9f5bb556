/** A value as its row has it: in the plain column, or in the sealed one beside it. Never both. */
export interface AtRest<Plain> {
  plain: Plain | null;
  sealed: Buffer | null;
}

/**
 * What a provider or a client wrote, on its way into a row and out of it (STO-1). Every
 * connection to the database carries one, so that what stores and reads such values needs no key of its own.
 *
 * `context` binds a value to its place (`secrets/sealing.ts`).
 */
export interface Vault {
  /** Text, mostly JSON, as it is to be stored: sealed, or plain where there is no key. */
  store(text: string, context: string): AtRest<string>;
  /** The same of bytes: `sealed` tells which they are. */
  storeBytes(bytes: Buffer, context: string): { bytes: Buffer; sealed: boolean };
  /**
   * The text; null when the row has none. Throws KeyUnknown when the ring lacks its key, and Error when it was tampered with or moved.
   */
  openText(stored: AtRest<string>, context: string): string | null;
  /** The value of JSON text; a plain one as the database gives it. Throws as `openText`. */
  openValue<Value extends object>(stored: AtRest<Value>, context: string): Value | null;
  /** Throws as `openText`. */
  openBytes(stored: { bytes: Buffer; sealed: boolean }, context: string): Buffer;
  /** By this a sealed text can be found, and not be told from any other without the installation's secret; null without it. */
  hash(text: string): Buffer | null;
}

/** For tools that store nothing of others: stores plain values, and opens no sealed one. */
export const PLAIN_VAULT: Vault = {
  store: (plain) => ({ plain, sealed: null }),
  storeBytes: (bytes) => ({ bytes, sealed: false }),
  openText: ({ plain, sealed }) => (sealed ? closed() : plain),
  openValue: ({ plain, sealed }) => (sealed ? closed() : plain),
  openBytes: ({ bytes, sealed }) => (sealed ? closed() : bytes),
  hash: () => null,
};

function closed(): never {
  throw new Error('a sealed value was read without keys');
}
