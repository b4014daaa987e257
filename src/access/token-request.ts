import { CofferError, invalid } from '../ground/errors.ts';
import { DEFAULT, MAX_POLICY_NAME_LENGTH, policyName, ROOT } from './policies.ts';
import type { Token, TokenRecord } from './token.ts';
import { grantLifetime } from './token-lifetime.ts';

/** What is asked of a new token. Times in seconds, 0 for "not given". */
export interface TokenRequest {
  /** Empty: those of the creator. */
  readonly policies: readonly string[];
  readonly noDefaultPolicy: boolean;
  readonly ttl: number;
  readonly explicitMaxTtl: number;
  readonly period: number;
  readonly renewable: boolean;
  /** 0: not limited. */
  readonly numUses: number;
  /** Independent of the creator's own end; needs `sudo`, unless the path itself is the permission. */
  readonly orphan: 'no' | 'asked' | 'by-path';
  readonly displayName: string;
  readonly meta: Readonly<Record<string, string>> | null;
  /** A text of the caller's choice for the token; empty for a random one. */
  readonly id: string;
  /** The API path of the request. */
  readonly path: string;
}

/** A token is read with every request that presents it, so what it carries stays small. */
const MAX_DISPLAY_NAME_CHARACTERS = 512;
/** As many as a request could be judged by; each is read when the token is presented. */
const MAX_POLICIES = 256;
/** Of all names and values together, in UTF-8. */
const MAX_META_BYTES = 16 * 1024;

/** Who asks: the owner, who has every right and no token, or a token. */
export interface TokenCreator {
  readonly record?: TokenRecord;
  /** Has `sudo` on the request's path. */
  readonly sudo: boolean;
}

/**
 * Judges a request for a token and builds the token. Rules, their order and their texts are those of Vault and OpenBao,
 * which have no limits for sizes.
 * @throws `invalid`, or `too-large` for a display name or metadata over its limit.
 */
export function buildToken(
  request: TokenRequest,
  creator: TokenCreator,
  nowMs: number,
): { token: Token; warnings: readonly string[] } {
  const parent = creator.record?.token;
  if (parent?.usesLeft !== undefined) throw invalid('restricted use token cannot generate child tokens');
  if (request.numUses < 0) throw invalid('number of uses cannot be negative', { field: 'num_uses' });
  checkSizes(request);
  checkId(request.id, creator.sudo);
  const policies = choosePolicies(request, parent?.policies ?? [ROOT], creator.sudo);
  if (request.orphan === 'asked' && !creator.sudo) throw needsSudo('create orphan token', 'no_parent');
  if (request.period > 0 && !creator.sudo) throw needsSudo('create periodic token', 'period');
  const { ttl, warnings } = chooseTtl(request, policies);
  const never = ttl === 0;
  if (never && parent !== undefined && parent.creationTtl !== 0) {
    throw invalid('expiring root tokens cannot create non-expiring root tokens');
  }
  const createdMs = Math.floor(nowMs / 1000) * 1000;
  const orphan = request.orphan !== 'no' || creator.record === undefined;
  const token: Token = {
    displayName: displayName(request.displayName),
    policies,
    path: request.path,
    meta: request.meta,
    createdMs,
    creationTtl: ttl,
    renewable: request.renewable && !never,
    explicitMaxTtl: request.explicitMaxTtl,
    period: request.period,
    ...(orphan ? {} : { parent: creator.record.accessor }),
    ...(never ? {} : { expiresMs: createdMs + ttl * 1000 }),
    ...(request.numUses === 0 ? {} : { usesLeft: request.numUses }),
  };
  return { token, warnings };
}

function checkSizes({ displayName, meta }: TokenRequest): void {
  if (displayName.length > MAX_DISPLAY_NAME_CHARACTERS) {
    throw tooLarge(
      `the display name is longer than ${MAX_DISPLAY_NAME_CHARACTERS} characters`,
      'display_name',
    );
  }
  const metaBytes = Object.entries(meta ?? {})
    .flat()
    .reduce((sum, text) => sum + Buffer.byteLength(text), 0);
  if (metaBytes > MAX_META_BYTES) {
    throw tooLarge(`the metadata is larger than ${MAX_META_BYTES} bytes`, 'meta');
  }
}

function checkId(id: string, sudo: boolean): void {
  if (id === '') return;
  if (!sudo) throw needsSudo('specify token id', 'id');
  if (id.includes('.')) throw invalid("custom token ID cannot have a '.' in the value", { field: 'id' });
}

/** Without sudo only policies that the creator has; `default` comes by itself, `root` only from `root`. */
function choosePolicies(request: TokenRequest, parent: readonly string[], sudo: boolean): readonly string[] {
  const asked = checkedPolicies(request.policies);
  const inherits = asked.length === 0;
  if (!inherits && !sudo && !asked.every((name) => parent.includes(name))) {
    throw invalid('child policies must be subset of parent', { field: 'policies' });
  }
  const addsDefault = !inherits && !request.noDefaultPolicy && (sudo || parent.includes(DEFAULT));
  const all = normalize([...(inherits ? parent : asked), ...(addsDefault ? [DEFAULT] : [])]);
  const chosen = request.noDefaultPolicy ? all.filter((name) => name !== DEFAULT) : all;
  if (chosen.includes(ROOT) && !parent.includes(ROOT)) {
    throw invalid('root tokens may not be created without parent token being root', { field: 'policies' });
  }
  return chosen;
}

/** A name that no policy can have is one that somebody mistyped. */
function checkedPolicies(names: readonly string[]): readonly string[] {
  const asked = normalize(names);
  if (asked.length > MAX_POLICIES) {
    throw invalid(`policies must have at most ${MAX_POLICIES} names, not ${asked.length}`, {
      field: 'policies',
    });
  }
  const long = asked.find((name) => name.length > MAX_POLICY_NAME_LENGTH);
  if (long === undefined) return asked;
  throw invalid(
    `names in policies must have at most ${MAX_POLICY_NAME_LENGTH} characters, not ${long.length}`,
    {
      field: 'policies',
    },
  );
}

function normalize(names: readonly string[]): readonly string[] {
  const known = new Set(names.map(policyName).filter((name) => name !== ''));
  return known.has(ROOT) ? [ROOT] : [...known].sort();
}

/** A root token for which no time was given never expires. */
function chooseTtl(
  request: TokenRequest,
  policies: readonly string[],
): { ttl: number; warnings: readonly string[] } {
  if (request.period === 0 && request.ttl === 0 && policies.includes(ROOT)) {
    return { ttl: request.explicitMaxTtl, warnings: [] };
  }
  return grantLifetime({ ...request, age: 0, wanted: 0 });
}

function displayName(wanted: string): string {
  if (wanted === '') return 'token';
  return `token-${wanted}`.replace(/[^a-zA-Z0-9-]/g, '-').replace(/-$/, '');
}

const needsSudo = (what: string, field: string): CofferError =>
  invalid(`root or sudo privileges required to ${what}`, { field });

const tooLarge = (message: string, field: string): CofferError =>
  new CofferError('too-large', message, { field });
