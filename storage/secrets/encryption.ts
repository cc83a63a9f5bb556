import { createCipheriv, createDecipheriv, createHmac, hkdfSync, randomBytes } from 'node:crypto';
import { HttpError } from '../model/errors.js';

/**
 * The key ring that seals secrets at rest: AES-256-GCM, the first key encrypts, all of them decrypt.
 * A sealed value is `version 1 | id length | key id | nonce 12 | tag 16 | ciphertext`.
 *
 * `context` binds a value to its place (`connection/<id>/password`): a row copied elsewhere does not open.
 */
export interface KeyRing {
  /** Ids of the keys, in their order: the first encrypts, all of them decrypt. */
  readonly keys: readonly string[];
  /** False when no key is configured: `seal` and `fingerprint` then throw 503 `encryption_key_unavailable`. */
  readonly available: boolean;
  seal(plaintext: string | Buffer, context: string): Buffer;
  /** Throws KeyUnknown when the key is not in the ring, and Error when the value was tampered with or moved. */
  open(sealed: Buffer, context: string): Buffer;
  /** True when `sealed` is under another key than the one that encrypts now. */
  stale(sealed: Buffer): boolean;
}

export interface EncryptionKey {
  id: string;
  key: Buffer;
}

/**
 * What was sealed is whole, as far as can be seen, and this node lacks its key: another node may have it, and this one after its
 * next restart. So it ends nothing for good.
 */
export class KeyUnknown extends Error {
  constructor(readonly keyId: string) {
    super(`no encryption key "${keyId}" in the ring`);
  }
}

const VERSION = 1;
const KEY_ID = /^[A-Za-z0-9_.-]{1,32}$/;

/** Parses `ENCRYPTION_KEYS` (`id:base64,…`). Throws Error naming the entry, never the key. */
export function parseEncryptionKeys(text: string): EncryptionKey[] {
  const keys = text.split(',').map((entry, i) => {
    const at = entry.indexOf(':');
    const id = entry.slice(0, at).trim();
    const key = Buffer.from(entry.slice(at + 1).trim(), 'base64');
    if (at < 1 || !KEY_ID.test(id)) throw new Error(`entry ${i + 1} is not id:base64`);
    if (key.length !== 32) throw new Error(`key "${id}" is not 32 bytes of base64`);
    return { id, key };
  });
  if (new Set(keys.map((k) => k.id)).size !== keys.length) throw new Error('two keys have the same id');
  return keys;
}

/** The key ring of these keys, the first of which encrypts. */
export function keyRing(keys: EncryptionKey[]): KeyRing {
  const [current] = keys;
  const byId = new Map(keys.map((k) => [k.id, k.key]));
  const keyIdOf = (sealed: Buffer) => sealed.toString('utf8', 2, 2 + (sealed[1] ?? 0));
  return {
    keys: keys.map(({ id }) => id),
    available: current !== undefined,
    seal(plaintext, context) {
      if (!current) throw new HttpError('encryption_key_unavailable');
      const nonce = randomBytes(12);
      const cipher = createCipheriv('aes-256-gcm', current.key, nonce);
      cipher.setAAD(Buffer.from(context));
      const body = Buffer.concat([cipher.update(plaintext), cipher.final()]);
      const id = Buffer.from(current.id);
      return Buffer.concat([Buffer.from([VERSION, id.length]), id, nonce, cipher.getAuthTag(), body]);
    },
    open(sealed, context) {
      const id = keyIdOf(sealed);
      const key = byId.get(id);
      if (sealed[0] !== VERSION || !KEY_ID.test(id)) throw new Error('what is stored was not sealed by this service');
      if (!key) throw new KeyUnknown(id);
      const at = 2 + Buffer.byteLength(id);
      const decipher = createDecipheriv('aes-256-gcm', key, sealed.subarray(at, at + 12));
      decipher.setAAD(Buffer.from(context));
      decipher.setAuthTag(sealed.subarray(at + 12, at + 28));
      return Buffer.concat([decipher.update(sealed.subarray(at + 28)), decipher.final()]);
    },
    stale: (sealed) => keyIdOf(sealed) !== current?.id,
  };
}

/**
 * Hashes requests for idempotency (OPS-9) under a secret of the installation, so that a stolen table of
 * fingerprints cannot be searched for a short message. The secret must outlive key rotation.
 */
export function fingerprinter(secret: Buffer): (text: string) => Buffer {
  const key = Buffer.from(hkdfSync('sha256', secret, '', 'operation-fingerprint', 32));
  return (text) => createHmac('sha256', key).update(text).digest();
}
