import { createHmac, hkdfSync } from 'node:crypto';
import type { AtRest, Vault } from '../model/vault.js';
import type { KeyRing } from './encryption.js';

/** Seals the data of customers under the key ring. A ring without a key stores plain values; both are read at any time. */
export class DataVault implements Vault {
  readonly #ring: KeyRing;
  #hashKey: Buffer | undefined;

  constructor(ring: KeyRing) {
    this.#ring = ring;
  }

  /** What `hash` hashes under: the installation's secret, which outlives every key. Null while this node cannot open it. */
  hashUnder(secret: Buffer | null): void {
    this.#hashKey = secret ? Buffer.from(hkdfSync('sha256', secret, '', 'lookup', 32)) : undefined;
  }

  store(text: string, context: string): AtRest<string> {
    if (!this.#ring.available) return { plain: text, sealed: null };
    return { plain: null, sealed: this.#ring.sealData(text, context) };
  }

  storeBytes(bytes: Buffer, context: string): { bytes: Buffer; sealed: boolean } {
    return this.#ring.available
      ? { bytes: this.#ring.sealData(bytes, context), sealed: true }
      : { bytes, sealed: false };
  }

  openText({ plain, sealed }: AtRest<string>, context: string): string | null {
    return sealed ? this.#ring.open(sealed, context).toString('utf8') : plain;
  }

  openValue<Value extends object>({ plain, sealed }: AtRest<Value>, context: string): Value | null {
    return sealed ? (JSON.parse(this.#ring.open(sealed, context).toString('utf8')) as Value) : plain;
  }

  openBytes({ bytes, sealed }: { bytes: Buffer; sealed: boolean }, context: string): Buffer {
    return sealed ? this.#ring.open(bytes, context) : bytes;
  }

  hash(text: string): Buffer | null {
    return this.#hashKey ? createHmac('sha256', this.#hashKey).update(text).digest() : null;
  }
}
