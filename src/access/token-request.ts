import { CofferError, invalid, ownWords } from '../ground/errors.ts';
import { DEFAULT, MAX_POLICY_NAME_LENGTH, policyName, RESPONSE_WRAPPING, ROOT } from './policies.ts';
import {
  checkBatchTerms,
  grantLifetime,
  kindBy,
  type Token,
  type TokenKind,
  type TokenRecord,
} from './token.ts';
import { policiesUnder, saysPolicies, type TokenRole } from './token-roles.ts';

/** Request for a new token. Times in seconds, 0 for "not given". */
export interface TokenRequest {
  /** Policies; empty for those of the creator. */
  readonly policies: readonly string[];
  readonly noDefaultPolicy: boolean;
  readonly ttl: number;
  readonly explicitMaxTtl: number;
  readonly period: number;
  readonly renewable: boolean;
  /** 0: unlimited. */
  readonly numUses: number;
  /** Whether the token has no parent; needs `sudo`, unless the path itself is the permission. */
  readonly orphan: 'no' | 'asked' | 'by-path';
  readonly displayName: string;
  readonly meta: Readonly<Record<string, string>> | null;
  /** Token text chosen by the caller; empty for a random one. */
  readonly id: string;
  /** API path of the request. */
  readonly path: string;
  /** Kind of the token; absent if left to the role. */
  readonly kind?: TokenKind | undefined;
  /** Name of a token role to create it with. */
  readonly role?: string | undefined;
}

/** Maximum length of a display name: every request with a token reads all of its data, so it stays small. */
const MAX_DISPLAY_NAME_CHARACTERS = 512;
/** Maximum number of policies, because each is read when the token is used. */
const MAX_POLICIES = 256;
/** Maximum size of the metadata: all names and values together, in UTF-8 bytes. */
const MAX_META_BYTES = 16 * 1024;

/** Creator of a token: the owner, who has all permissions and no token, or a token. */
export interface TokenCreator {
  readonly record?: TokenRecord;
  /** Whether the creator has `sudo` on the request's path. */
  readonly sudo: boolean;
}

/** Returns the type of the requested token. */
export const kindOfRequest = ({ kind }: TokenRequest, role: TokenRole | undefined): TokenKind =>
  kindBy(role?.token_type ?? 'default-service', kind);

/**
 * Checks a request for a token and builds the token. Rules, their order and messages are those of Vault and OpenBao,
 * which do not limit sizes.
 * @throws `invalid`, or `too-large` for a display name or metadata over its limit
 */
export function buildToken(
  asked: TokenRequest,
  creator: TokenCreator,
  nowMs: number,
  role?: TokenRole,
): { token: Token; warnings: readonly string[] } {
  const { request, warnings: ofRole } =
    role === undefined ? { request: asked, warnings: [] } : underRole(asked, role);
  const parent = creator.record?.token;
  if (parent?.usesLeft !== undefined)
    throw invalid(ownWords('restricted use token cannot generate child tokens'));
  if (request.numUses < 0)
    throw invalid(ownWords('number of uses cannot be negative'), { field: 'num_uses' });
  const isBatch = kindOfRequest(asked, role) === 'batch';
  if (isBatch) checkBatchTerms(asked);
  if (isBatch) checkBatchTerms({ numUses: request.numUses, period: request.period });
  checkSizes(request);
  if (!isBatch) checkId(request.id, creator.sudo);
  const policies = choosePolicies(request, parent?.policies ?? [ROOT], creator.sudo, role);
  if (request.orphan === 'asked' && !creator.sudo) throw needsSudo('create orphan token', 'no_parent');
  if (asked.period > 0 && !creator.sudo) throw needsSudo('create periodic token', 'period');
  if (isBatch && policies.includes(ROOT)) {
    throw invalid(ownWords('batch tokens cannot be root tokens'), { field: 'policies' });
  }
  const { ttl, warnings } = chooseTtl(request, policies);
  const never = ttl === 0;
  if (never && parent !== undefined && parent.creationTtl !== 0) {
    throw invalid(ownWords('expiring root tokens cannot create non-expiring root tokens'));
  }
  const createdMs = Math.floor(nowMs / 1000) * 1000;
  const roleCidrs = role?.token_bound_cidrs ?? [];
  const boundCidrs = roleCidrs.length > 0 ? roleCidrs : (parent?.boundCidrs ?? []);
  const orphan = request.orphan !== 'no' || creator.record === undefined;
  const token: Token = {
    displayName: displayName(request.displayName),
    policies,
    path: request.path,
    meta: request.meta,
    createdMs,
    creationTtl: ttl,
    ...(isBatch
      ? { kind: 'batch', renewable: false, explicitMaxTtl: 0, period: 0 }
      : {
          renewable: request.renewable && !never,
          explicitMaxTtl: request.explicitMaxTtl,
          period: request.period,
        }),
    ...(orphan ? {} : parentage(creator.record)),
    // The creation time in a batch token has whole seconds, and its lifetime starts there.
    expiresMs: never ? undefined : (isBatch ? createdMs : nowMs) + ttl * 1000,
    usesLeft: request.numUses === 0 ? undefined : request.numUses,
    boundCidrs: boundCidrs.length === 0 ? undefined : boundCidrs,
    role: request.role,
  };
  return { token, warnings: [...ofRole, ...warnings] };
}

const parentage = ({ accessor, token: { serial } }: TokenRecord) => ({
  parent: accessor,
  parentSerial: serial,
});

/** Applies the restrictions of a role to a request: of two limits, the lower one. */
function underRole(
  request: TokenRequest,
  role: TokenRole,
): { readonly request: TokenRequest; readonly warnings: readonly string[] } {
  const warnings: string[] = [];
  const lesser = (what: string, asked: number, allowed: number): number => {
    if (asked === 0 || allowed === 0) return asked || allowed;
    const least = Math.min(asked, allowed);
    warnings.push(
      `${what} specified both during creation call and in role; using the lesser value of ${least} seconds`,
    );
    return least;
  };
  const suffix = role.path_suffix === '' ? '' : `/${role.path_suffix}`;
  return {
    request: {
      ...request,
      noDefaultPolicy: request.noDefaultPolicy || role.token_no_default_policy,
      explicitMaxTtl: lesser('Explicit max TTL', request.explicitMaxTtl, role.token_explicit_max_ttl),
      period: lesser('Period', request.period, role.token_period),
      renewable: request.renewable && role.renewable,
      numUses: Math.min(request.numUses || role.token_num_uses, role.token_num_uses || request.numUses),
      orphan: role.orphan ? 'by-path' : 'no',
      path: `${request.path}${suffix}`,
    },
    warnings,
  };
}

/**
 * Checks the sizes.
 * @throws `too-large`
 */
export function checkSizes({ displayName, meta }: Pick<Token, 'displayName' | 'meta'>): void {
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
  const prefix = ['hvs.', 's.'].find((known) => id.startsWith(known));
  if (prefix !== undefined) {
    throw invalid(`custom token ID cannot have the '${prefix}' prefix`, { field: 'id' });
  }
  if (id.includes('.'))
    throw invalid(ownWords("custom token ID cannot have a '.' in the value"), { field: 'id' });
}

/**
 * Chooses the policies. Without sudo, only those of the creator; `default` is added automatically, `root` is only
 * granted by `root`.
 */
function choosePolicies(
  request: TokenRequest,
  parent: readonly string[],
  sudo: boolean,
  role: TokenRole | undefined,
): readonly string[] {
  // An empty name names no policy, but does not ask for the default: a script whose variable is empty must not get the
  // policies of its token.
  const asked = request.policies.length === 0 ? undefined : checkedPolicies(request.policies);
  const chosen =
    role !== undefined && saysPolicies(role)
      ? checkedPolicies(policiesUnder(role, asked, parent, request.noDefaultPolicy))
      : ownPolicies(request, asked, parent, sudo);
  if (chosen.includes(ROOT) && !parent.includes(ROOT)) {
    throw invalid(ownWords('root tokens may not be created without parent token being root'), {
      field: 'policies',
    });
  }
  return chosen;
}

function ownPolicies(
  request: TokenRequest,
  asked: readonly string[] | undefined,
  parent: readonly string[],
  sudo: boolean,
): readonly string[] {
  const inherits = asked === undefined;
  if (!inherits && !sudo && !asked.every((name) => parent.includes(name))) {
    throw invalid(ownWords('child policies must be subset of parent'), { field: 'policies' });
  }
  const addsDefault = !inherits && !request.noDefaultPolicy && (sudo || parent.includes(DEFAULT));
  const all = normalize([...(inherits ? parent : asked), ...(addsDefault ? [DEFAULT] : [])]);
  return request.noDefaultPolicy ? all.filter((name) => name !== DEFAULT) : all;
}

/**
 * Normalizes policies.
 * @throws `invalid` for too many, and for an impossible name, which is a typing error
 */
export function checkedPolicies(names: readonly string[]): readonly string[] {
  const asked = normalize(names);
  if (asked.includes(RESPONSE_WRAPPING)) {
    throw invalid(`cannot assign policy "${RESPONSE_WRAPPING}"`, { field: 'policies' });
  }
  if (asked.length > MAX_POLICIES) {
    throw invalid(`a token can have at most ${MAX_POLICIES} policies, not ${asked.length}`, {
      field: 'policies',
    });
  }
  const long = asked.find((name) => name.length > MAX_POLICY_NAME_LENGTH);
  if (long === undefined) return asked;
  throw invalid(
    `the name of a policy can have at most ${MAX_POLICY_NAME_LENGTH} characters, not ${long.length}`,
    {
      field: 'policies',
    },
  );
}

/** Normalizes policies: lower case, unique, sorted; `root` alone. */
export function normalize(names: readonly string[]): readonly string[] {
  const known = new Set(names.map(policyName).filter((name) => name !== ''));
  return known.has(ROOT) ? [ROOT] : [...known].sort();
}

/** Chooses the TTL; a root token without a requested TTL never expires. */
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
