import type { KeyObject } from 'node:crypto';
import { wipe } from '../ground/bytes.ts';
import type { Random } from '../ground/random.ts';
import type { DocumentRef } from '../store/store.ts';
import { keyedHash } from './access-keys.ts';

/** Token as stored, under its accessor. The text of the token is not part of it. */
export interface Token {
  /** Kind of the token; absent for a service token. A batch token is not stored. */
  readonly kind?: 'batch';
  readonly displayName: string;
  /** Lower case, sorted; `root` stands alone. */
  readonly policies: readonly string[];
  /** API path that issued it. */
  readonly path: string;
  readonly meta: Readonly<Record<string, string>> | null;
  /** Accessor of the parent token, with which it is revoked; absent for an orphan. */
  readonly parent?: string | undefined;
  /** `serial` of the parent, if it has one. */
  readonly parentSerial?: string | undefined;
  /** Distinguishes it from an earlier token with the same text; only if the text was chosen by a caller. */
  readonly serial?: string;
  /** Creation time in milliseconds since the epoch, on a whole second. */
  readonly createdMs: number;
  /** In seconds; 0 if it never expires. */
  readonly creationTtl: number;
  /** In milliseconds since the epoch; absent if it never expires. */
  readonly expiresMs?: number | undefined;
  readonly renewedMs?: number;
  readonly renewable: boolean;
  /** In seconds; 0 for none. */
  readonly explicitMaxTtl: number;
  /** In seconds; 0 for a token that is not periodic. */
  readonly period: number;
  /** Remaining uses; absent if unlimited. A token at 0 is used up. */
  readonly usesLeft?: number | undefined;
  /** Addresses and networks that it is bound to; absent for any. Its children are bound as well. */
  readonly boundCidrs?: readonly string[] | undefined;
  /** Token role that it was created with. */
  readonly role?: string | undefined;
  /** Present for a wrapping token, which can only be used to unwrap its response. */
  readonly wraps?: true;
  /** Present for a token of a login. */
  readonly login?: TokenLogin | undefined;
  /** Whether earlier releases must refuse it: they would not check something that it, or its parent, depends on. */
  readonly isGuarded?: true;
}

/** Origin of a token issued by a login method. */
export interface TokenLogin {
  /**
   * `uuid` of the method's mount; without the mount, the token is invalid.
   * @see docs/decisions/0173
   */
  readonly mount: string;
  /** `LoginRole` of the role or user: renewals use its current times. Absent in batch tokens. */
  readonly role?: DocumentRef;
  /** Its name for messages. */
  readonly name?: string;
  /** Present if it can only be renewed while the role's policies are those of the token. */
  readonly keepsPolicies?: true | undefined;
  /** Key of the client certificate, which is required again for each renewal. Base64 of its SHA-256. */
  readonly certifiedKey?: string | undefined;
}

/** Token with its accessor, under which it is stored; empty for a batch token. */
export interface TokenRecord {
  readonly accessor: string;
  readonly token: Token;
}

/** Prefix of our tokens, for users and for programs that search for leaked secrets. */
const TOKEN_PREFIX = 'cfr.';
const SECRET_BYTES = 32;
const MAX_TOKEN_LENGTH = 1024;
const ACCESSOR_LENGTH = 40;

/** Generates a token text: 256 random bits. */
export function freshTokenText(random: Random): string {
  const secret = random.bytes(SECRET_BYTES);
  const text = `${TOKEN_PREFIX}${secret.toString('base64url')}`;
  wipe(secret);
  return text;
}

/** Whether a text could be a token, so that invalid texts of any length cost nothing. */
export const couldBeToken = (text: string): boolean =>
  (text.length > 0 && text.length <= MAX_TOKEN_LENGTH) || couldBeBatchToken(text);

/** Prefix of batch tokens, as in Vault. Token texts chosen by callers cannot contain a dot. */
export const BATCH_PREFIX = 'b.';
/**
 * Maximum length of a batch token: servers and proxies accept headers of at least 8 KiB, and the token is not the only
 * one.
 */
export const MAX_BATCH_TOKEN_LENGTH = 4096;

export const couldBeBatchToken = (text: string): boolean =>
  text.startsWith(BATCH_PREFIX) && text.length <= MAX_BATCH_TOKEN_LENGTH;

/**
 * Computes the accessor of a token: 160 bits of its keyed hash, in hex, which no shell or command line misinterprets.
 * It is the ID of the token's document and may be shown and logged; computing it requires both the token and the
 * store's key.
 * @see docs/decisions/0050
 */
export const accessorOf = (key: KeyObject, text: string): string =>
  keyedHash(key, text).slice(0, ACCESSOR_LENGTH);

export const isExpired = (token: Token, nowMs: number): boolean =>
  token.expiresMs !== undefined && token.expiresMs <= nowMs;

/**
 * Returns the issue time of a token in milliseconds: the first whole one that is not before it, as its expiration time
 * is the last. So their difference, which Vault clients compute, never exceeds the TTL. For renewed tokens and batch
 * tokens, only the second is known.
 */
export function issuedMs({ kind, createdMs, creationTtl, expiresMs, renewedMs }: Token): number {
  if (kind === 'batch' || expiresMs === undefined || renewedMs !== undefined) return createdMs;
  return expiresMs - creationTtl * 1000 + 1;
}

export const isUsedUp = (token: Token): boolean => token.usesLeft === 0;
