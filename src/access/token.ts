import type { KeyObject } from 'node:crypto';
import { wiping } from '../ground/bytes.ts';
import { invalid, ownWords } from '../ground/errors.ts';
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
  /** `moved` of the mount at the login. */
  readonly moved?: string | undefined;
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
export const freshTokenText = (random: Random): string =>
  wiping(random.bytes(SECRET_BYTES), (secret) => `${TOKEN_PREFIX}${secret.toString('base64url')}`);

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

/** Token type: a service token is stored, and can be renewed and revoked; a batch token cannot. */
export type TokenKind = 'service' | 'batch';

/** Token type setting of a mount or token role: the defaults leave the choice to the request. */
const KIND_RULES = ['default-service', 'default-batch', 'service', 'batch'] as const;
export type KindRule = (typeof KIND_RULES)[number];

export const isKindRule = (word: unknown): word is KindRule => KIND_RULES.some((rule) => rule === word);

/** Returns the token type by a setting, and by the request if the setting leaves the choice. */
export function kindBy(rule: KindRule, asked: TokenKind | undefined): TokenKind {
  if (rule === 'service' || rule === 'batch') return rule;
  return asked ?? (rule === 'default-batch' ? 'batch' : 'service');
}

/**
 * Refuses terms that only stored tokens can have.
 * @throws `invalid` with Vault's messages
 */
export function checkBatchTerms(terms: {
  readonly explicitMaxTtl?: number;
  readonly numUses: number;
  readonly period: number;
}): void {
  if ((terms.explicitMaxTtl ?? 0) !== 0) throw cannotHave('explicit_max_ttl');
  if (terms.numUses !== 0) throw cannotHave('num_uses');
  if (terms.period !== 0) throw cannotHave('period');
}

const cannotHave = (field: string) => invalid(`batch tokens cannot have "${field}" set`, { field });

/** Default TTL, and maximum TTL of tokens without a period: 32 days. */
const DEFAULT_TTL_SECONDS = 2_764_800;
export const MAX_TTL_SECONDS = 2_764_800;

/** All in seconds; 0 means "not given". */
interface LifetimeRequest {
  /** Time since the token was created. */
  readonly age: number;
  /** TTL requested by this creation or renewal. */
  readonly wanted: number;
  /** TTL requested when the token was created. */
  readonly ttl: number;
  readonly period: number;
  readonly explicitMaxTtl: number;
  /** Maximum TTL of a login method's mount and role, instead of the server's. */
  readonly maxTtl?: number;
}

/**
 * Computes the TTL of a token from now on. Each renewal of a periodic token grants its full period, limited only by an
 * explicit maximum; any other token is limited by its maximum counted from its creation. (Rules and messages of Vault
 * and OpenBao.)
 *
 * @throws `invalid` if the maximum is already reached
 */
export function grantLifetime(request: LifetimeRequest): { ttl: number; warnings: readonly string[] } {
  const warnings: string[] = [];
  const longest = request.maxTtl ?? MAX_TTL_SECONDS;
  const limit = request.explicitMaxTtl > 0 ? Math.min(request.explicitMaxTtl, longest) : longest;
  const periodic = request.period > 0;
  let ttl = periodic ? request.period : request.wanted || request.ttl || DEFAULT_TTL_SECONDS;
  if (periodic && ttl > limit) {
    warnings.push(
      `period of "${printSeconds(ttl)}" exceeded the effective max_ttl of "${printSeconds(limit)}"; period value is capped accordingly`,
    );
    ttl = limit;
  }
  const end = periodic ? request.explicitMaxTtl : limit;
  if (end === 0) return { ttl, warnings };
  const left = end - request.age;
  if (left <= 0) throw invalid(ownWords('past the max TTL, cannot renew'));
  if (ttl > left) {
    warnings.push(
      `TTL of "${printSeconds(ttl)}" exceeded the effective max_ttl of "${printSeconds(left)}"; TTL value is capped accordingly`,
    );
    ttl = left;
  }
  return { ttl, warnings };
}

/** Prints `1h30m`, without parts that are zero. */
export function printSeconds(seconds: number): string {
  const parts: readonly (readonly [number, string])[] = [
    [Math.floor(seconds / 3600), 'h'],
    [Math.floor((seconds % 3600) / 60), 'm'],
    [seconds % 60, 's'],
  ];
  return (
    parts
      .filter(([count]) => count > 0)
      .map(([count, unit]) => `${count}${unit}`)
      .join('') || '0s'
  );
}
