import { createHash, randomBytes } from 'node:crypto';
import { crc32 } from 'node:zlib';

/**
 * How a key is written (HTTP-23): `cs_live_` or `cs_oper_`, 32 random bytes in 43 digits of base 62, and six digits for the CRC-32 of all that
 * stands before.
 */
const WRITTEN = /^cs_(live|oper)_[0-9A-Za-z]{49}$/;

const DIGITS = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const RANDOM_DIGITS = 43;
const CHECK_DIGITS = 6;
/** Shown of a key wherever it is listed: its kind and four of its characters. */
const PREFIX_CHARACTERS = 12;

/** Whose key it is: a workspace's, or an operator's of the installation. */
export type KeyKind = 'key' | 'operator';

const WORDS = { key: 'live', operator: 'oper' } as const;

/** A new key with 256 random bits, to be shown once. */
export function newKeyText(kind: KeyKind): string {
  const text = `cs_${WORDS[kind]}_${inBase62(BigInt(`0x${randomBytes(32).toString('hex')}`), RANDOM_DIGITS)}`;
  return text + checksum(text);
}

/** Whose key a text can be; undefined for what is none, among it every key with a mistyped character. */
export function kindOfKey(text: string): KeyKind | undefined {
  const word = WRITTEN.exec(text)?.[1];
  if (word === undefined || text.slice(-CHECK_DIGITS) !== checksum(text.slice(0, -CHECK_DIGITS))) return undefined;
  return word === WORDS.operator ? 'operator' : 'key';
}

/** By what people tell keys apart; it opens nothing. */
export function prefixOf(key: string): string {
  return key.slice(0, PREFIX_CHARACTERS);
}

/** What is stored of a key, or of another text with 256 random bits: they are enough for a plain hash. */
export function hashKey(key: string): Buffer {
  return createHash('sha256').update(key).digest();
}

function checksum(text: string): string {
  return inBase62(BigInt(crc32(text)), CHECK_DIGITS);
}

function inBase62(number: bigint, digits: number): string {
  let text = '';
  for (let rest = number; text.length < digits; rest /= 62n) text = DIGITS[Number(rest % 62n)] + text;
  return text;
}
