import type { KeyObject } from 'node:crypto';
import { wipe } from '../ground/bytes.ts';
import type { Random } from '../ground/random.ts';
import type { DocumentRef } from '../store/store.ts';
import { keyedHash } from './access-keys.ts';

/** A token as stored, under its accessor. Its text is nowhere in it. */
export interface Token {
  /** Absent for a service token. A batch token is stored nowhere. */
  readonly kind?: 'batch';
  readonly displayName: string;
  /** Lower case, sorted; `root` stands alone. */
  readonly policies: readonly string[];
  /** The API path that issued it. */
  readonly path: string;
  readonly meta: Readonly<Record<string, string>> | null;
  /** The accessor of the token that issued it, with which it ends; absent for an orphan. */
  readonly parent?: string;
  /** The `serial` of that token, if it has one. */
  readonly parentSerial?: string;
  /** Tells it from an earlier token of the same text; only where somebody chose the text. */
  readonly serial?: string;
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
  /** Addresses and networks from which it is good; absent for any. Those that it issues are bound alike. */
  readonly boundCidrs?: readonly string[];
  /** The token role by whose name it was created. */
  readonly role?: string;
  /** It stands for a wrapped answer, and is good for nothing but that. */
  readonly wraps?: true;
  /** Of whoever logged in. */
  readonly login?: TokenLogin;
  /** Earlier releases must not take it for good: they would not know what it depends on, or not what that one does that issued it. */
  readonly isGuarded?: true;
}

/** What a token goes back to that a login method issued. */
export interface TokenLogin {
  /** The `uuid` of the method's mount, without which the token does not hold. @see docs/decisions/0173 */
  readonly mount: string;
  /** What the method keeps of the role or user, a `LoginRole`: times of renewals are as it is by then. Absent in batch tokens. */
  readonly role?: DocumentRef;
  /** The name that it has for people. */
  readonly name?: string;
  /** It is renewed only as long as the role's policies are those of the token. */
  readonly keepsPolicies?: true;
  /** The key that somebody showed a certificate for, which is asked for again at each renewal. Base64 of its SHA-256. */
  readonly certifiedKey?: string;
}

/** A token and the handle under which it is stored; empty for a batch token. */
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
export const couldBeToken = (text: string): boolean =>
  (text.length > 0 && text.length <= MAX_TOKEN_LENGTH) || couldBeBatchToken(text);

/** As the family has it. No text that somebody chooses for a token has a point in it. */
export const BATCH_PREFIX = 'b.';
/** Servers, and what stands before them, take headers of 8 KiB at least; the token is not the only one. */
export const MAX_BATCH_TOKEN_LENGTH = 4096;

export const couldBeBatchToken = (text: string): boolean =>
  text.startsWith(BATCH_PREFIX) && text.length <= MAX_BATCH_TOKEN_LENGTH;

/**
 * The handle of a token: 160 bits of its keyed hash, in hex, which no shell and no command line misreads. It names the
 * token's document and may be shown and logged; only who has both the token and the store's key can compute it.
 * @see docs/decisions/0050
 */
export const accessorOf = (key: KeyObject, text: string): string =>
  keyedHash(key, text).slice(0, ACCESSOR_LENGTH);

export const isExpired = (token: Token, nowMs: number): boolean =>
  token.expiresMs !== undefined && token.expiresMs <= nowMs;

/**
 * When a token was issued, in milliseconds: the first whole one that is not before it, as its end is the last. So the time between them is never more
 * than there is; clients of the family subtract the two. Of one that was renewed, or that is a batch token, no more than the second is known.
 */
export function issuedMs({ kind, createdMs, creationTtl, expiresMs, renewedMs }: Token): number {
  if (kind === 'batch' || expiresMs === undefined || renewedMs !== undefined) return createdMs;
  return expiresMs - creationTtl * 1000 + 1;
}

export const isUsedUp = (token: Token): boolean => token.usesLeft === 0;
