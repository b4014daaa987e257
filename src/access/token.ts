import type { KeyObject } from 'node:crypto';
import { wipe } from '../ground/bytes.ts';
import type { Random } from '../ground/random.ts';
import { keyedHash } from './access-keys.ts';

/** A token as stored, under its accessor. Its text is nowhere in it. */
export interface Token {
  readonly displayName: string;
  /** Lower case, sorted; `root` stands alone. */
  readonly policies: readonly string[];
  /** The API path that issued it. */
  readonly path: string;
  readonly meta: Readonly<Record<string, string>> | null;
  /** The accessor of the token that issued it, with which it ends; absent for an orphan. */
  readonly parent?: string;
  /** Milliseconds since the epoch, on a whole second. */
  readonly createdMs: number;
  /** Seconds; 0 when it never expires. */
  readonly creationTtl: number;
  /** Milliseconds since the epoch; absent when it never expires. */
  readonly expiresMs?: number;
  readonly renewedMs?: number;
  readonly renewable: boolean;
  /** Seconds; 0 when there is none. */
  readonly explicitMaxTtl: number;
  /** Seconds; 0 for a token that is not periodic. */
  readonly period: number;
  /** Requests left; absent when they are not counted. A token at 0 is used up. */
  readonly usesLeft?: number;
}

/** A stored token and the handle under which it lies. */
export interface TokenRecord {
  readonly accessor: string;
  readonly token: Token;
}

/** Marks our tokens, for people and for programs that look for leaked secrets. */
export const TOKEN_PREFIX = 'cfr.';
const SECRET_BYTES = 32;
const MAX_TOKEN_LENGTH = 1024;
const ACCESSOR_LENGTH = 40;

/** A fresh token text: 256 random bits. */
export function freshTokenText(random: Random): string {
  const secret = random.bytes(SECRET_BYTES);
  const text = `${TOKEN_PREFIX}${secret.toString('base64url')}`;
  wipe(secret);
  return text;
}

/** Whether a text could be a token at all, so that nonsense of any length costs nothing. */
export const couldBeToken = (text: string): boolean => text.length > 0 && text.length <= MAX_TOKEN_LENGTH;

/**
 * The handle of a token: 160 bits of its keyed hash, in hex, which no shell and no command line misreads. It names the
 * token's document and may be shown and logged; only who has both the token and the store's key can compute it.
 * @see docs/decisions/0050
 */
export const accessorOf = (key: KeyObject, text: string): string =>
  keyedHash(key, text).slice(0, ACCESSOR_LENGTH);

export const isExpired = (token: Token, nowMs: number): boolean =>
  token.expiresMs !== undefined && token.expiresMs <= nowMs;

export const isUsedUp = (token: Token): boolean => token.usesLeft === 0;
