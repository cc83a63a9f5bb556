import { type CipherGCM, createCipheriv, createDecipheriv, createHmac, hash, hkdfSync, randomBytes } from 'node:crypto';
import { HttpError } from '../model/errors.js';

/**
 * The key ring that seals secrets at rest: AES-256-GCM, the first key encrypts, all of them decrypt.
 * A sealed value is `version | id length | key id | nonce 12 | tag 16 | ciphertext`.
 *
 * `context` binds a value to its place (`connection/<id>/password`): a row copied elsewhere does not open. In version 1 it is
 * authenticated beside the value. In version 2 the value is encrypted under a key that is derived from it: with random nonces one
 * key may seal 2^32 values, which data reaches within days at thousands a second, and secrets never.
 */
export interface KeyRing {
  /** Ids of the keys, in their order: the first encrypts, all of them decrypt. */
  readonly keys: readonly string[];
  /** False when no key is configured: `seal` and `fingerprint` then throw 503 `encryption_key_unavailable`. */
  readonly available: boolean;
  /** For secrets, which are few: version 1. */
  seal(plaintext: string | Buffer, context: string): Buffer;
  /** For data, of which there may be any number: version 2. */
  sealData(plaintext: string | Buffer, context: string): Buffer;
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

const VERSION = { secret: 1, data: 2 } as const;
/** A shorter tag is refused: it could be guessed. */
const TAG = { authTagLength: 16 };
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
  const nonces = new Nonces();
  const byId = new Map(keys.map((k) => [k.id, k.key]));
  const keyIdOf = (sealed: Buffer) => sealed.toString('utf8', 2, 2 + (sealed[1] ?? 0));
  const head = (version: number, id: string) => Buffer.from([version, Buffer.byteLength(id), ...Buffer.from(id)]);
  const [secretHead, dataHead] = [VERSION.secret, VERSION.data].map((version) => current && head(version, current.id));
  return {
    keys: keys.map(({ id }) => id),
    available: current !== undefined,
    seal(plaintext, context) {
      if (!current || !secretHead) throw new HttpError('encryption_key_unavailable');
      const nonce = nonces.next();
      const cipher = createCipheriv('aes-256-gcm', current.key, nonce, TAG).setAAD(Buffer.from(context));
      return sealedBy(cipher, secretHead, nonce, plaintext);
    },
    sealData(plaintext, context) {
      if (!current || !dataHead) throw new HttpError('encryption_key_unavailable');
      const nonce = nonces.next();
      return sealedBy(
        createCipheriv('aes-256-gcm', derivedKey(current.key, context), nonce, TAG),
        dataHead,
        nonce,
        plaintext,
      );
    },
    open(sealed, context) {
      const [version] = sealed;
      const id = keyIdOf(sealed);
      const key = byId.get(id);
      if ((version !== VERSION.secret && version !== VERSION.data) || !KEY_ID.test(id))
        throw new Error('what is stored was not sealed by this service');
      if (!key) throw new KeyUnknown(id);
      const at = 2 + Buffer.byteLength(id);
      const nonce = sealed.subarray(at, at + 12);
      const opener =
        version === VERSION.data
          ? createDecipheriv('aes-256-gcm', derivedKey(key, context), nonce, TAG)
          : createDecipheriv('aes-256-gcm', key, nonce, TAG).setAAD(Buffer.from(context));
      opener.setAuthTag(sealed.subarray(at + 12, at + 28));
      const opened = opener.update(sealed.subarray(at + 28));
      opener.final(); // throws when the tag is wrong; a stream cipher has nothing left to give
      return opened;
    },
    stale: (sealed) => keyIdOf(sealed) !== current?.id,
  };
}

function sealedBy(cipher: CipherGCM, head: Buffer, nonce: Buffer, plaintext: string | Buffer): Buffer {
  const body = typeof plaintext === 'string' ? cipher.update(plaintext, 'utf8') : cipher.update(plaintext);
  cipher.final();
  return Buffer.concat([head, nonce, cipher.getAuthTag(), body]);
}

/**
 * The key of one place. A hash that begins with the whole key is enough of a derivation: its output is a key, never shown, so it
 * cannot be continued (measured: 0.8 µs, where HKDF takes 4).
 */
const derivedKey = (key: Buffer, context: string): Buffer =>
  hash('sha256', Buffer.concat([key, Buffer.from(`data:${context}`)]), 'buffer');

/** Random bytes, fetched a block at a time: one call for each nonce would cost a fifth of its seal. */
class Nonces {
  #block = Buffer.alloc(0);
  #at = 0;

  next(): Buffer {
    if (this.#at === this.#block.length) {
      this.#block = randomBytes(12 * 256);
      this.#at = 0;
    }
    this.#at += 12;
    return this.#block.subarray(this.#at - 12, this.#at);
  }
}

/**
 * Hashes where the callbacks of a workspace lead, under a secret of the installation: subscriptions of one destination can be told, and
 * what it is cannot, nor whether two workspaces share it.
 */
export function destinationHasher(secret: Buffer): (workspaceId: string, destination: string) => Buffer {
  const key = Buffer.from(hkdfSync('sha256', secret, '', 'callback-destination', 32));
  return (workspaceId, destination) => createHmac('sha256', key).update(`${workspaceId} ${destination}`).digest();
}

/**
 * Hashes requests for idempotency (OPS-9) under a secret of the installation, so that a stolen table of
 * fingerprints cannot be searched for a short message. The secret must outlive key rotation.
 */
export function fingerprinter(secret: Buffer): (text: string) => Buffer {
  const key = Buffer.from(hkdfSync('sha256', secret, '', 'operation-fingerprint', 32));
  return (text) => createHmac('sha256', key).update(text).digest();
}
