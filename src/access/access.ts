/** Access control: tokens, policies, and the audit log. */

import { hash } from 'node:crypto';
import type { Clock } from '../ground/clock.ts';
import { refusedAs } from '../ground/errors.ts';
import { type MaybePromise, withValue } from '../ground/maybe-promise.ts';
import { turn } from '../ground/pause.ts';
import type { Random } from '../ground/random.ts';
import { trimSlashes } from '../ground/trim.ts';
import type { Store, View } from '../store/store.ts';
import { ensureAccessKeys } from './access-keys.ts';
import type { Acl } from './acl.ts';
import { AuditRecorder } from './audit-record.ts';
import { HeadersInTrail } from './audited-headers.ts';
import { endBatchTokens } from './batch-tokens.ts';
import { Doors } from './doors.ts';
import { LoginAttempts } from './login/attempts.ts';
import { isWithin } from './login/networks.ts';
import { Policies } from './policies.ts';
import { Quotas } from './quotas/quotas.ts';
import { couldBeToken, type Token, type TokenRecord } from './token.ts';
import { erase, type LiveToken, liveToken, livingTokens, tokenAt } from './token-documents.ts';
import { TokenRoles } from './token-roles.ts';
import { Tokens } from './tokens.ts';
import { Wrapping } from './wrapping.ts';

/** Identity of a valid token: the caller, and what its policies allow. Valid for a single request. */
export interface TokenIdentity {
  /** Accessor, which refers to the token without revealing it; empty for a batch token. */
  readonly accessor: string;
  /** Identifier of a batch token within this process. */
  readonly batch?: string | undefined;
  readonly displayName: string;
  /** Metadata of the token: of a login, what its method knows of the caller, such as the AppRole role. */
  readonly meta?: Readonly<Record<string, string>> | null;
  /** Sorted; `root` stands alone. */
  readonly policies: readonly string[];
  readonly acl: Acl;
  /** Addresses and networks that the token is bound to; absent for any. */
  readonly boundCidrs?: readonly string[] | undefined;
  /**
   * Wrapped response, if it was a wrapping token. It is available only here, because the token is revoked by its first
   * use.
   */
  readonly wrapped?: string;
}

/**
 * Maximum number of cached identities; when it is reached, the cache is cleared. The cache is also cleared when the
 * store changes.
 */
const KNOWN_IDENTITIES = 10_000;

/** Tokens, policies and the audit log of one store. */
export class Access {
  readonly tokens: Tokens;
  readonly policies: Policies;
  readonly loginAttempts = new LoginAttempts();
  readonly roles: TokenRoles;
  readonly doors: Doors;
  readonly wrapping: Wrapping;
  readonly leases: Leases;
  readonly quotas: Quotas;
  readonly headersInTrail: HeadersInTrail;
  readonly #store: Store;
  readonly #clock: Clock;
  readonly #random: Random;
  readonly #known = new Map<string, { readonly identity: TokenIdentity; readonly untilMs: number }>();
  #knownRevision = '';

  constructor({ store, clock, random }: { store: Store; clock: Clock; random: Random }) {
    this.#store = store;
    this.#clock = clock;
    this.#random = random;
    this.policies = new Policies(store, clock);
    this.tokens = new Tokens({ store, clock, random, policies: this.policies });
    this.quotas = new Quotas(store);
    this.headersInTrail = new HeadersInTrail(store);
    this.leases = new Leases(store, clock);
    this.roles = new TokenRoles(store);
    this.doors = new Doors(store);
    this.wrapping = new Wrapping({ store, clock, random });
  }

  /**
   * Authenticates a token, without a promise if it is known. Undefined if the token is unknown, revoked, expired or
   * used up: the caller must not learn which. A token with a limited number of uses loses one, durably; a wrapping
   * token is revoked, whatever it is used for.
   *
   * While the store does not change, this costs one hash and one look at the store's revision. The token is looked up
   * by its hash, so that the timing reveals nothing about other tokens.
   *
   * @param seen the store's revision, if the caller has read it after the request arrived
   * @param address client address; without it, a token that is bound to addresses is invalid
   */
  authenticate(token: string, seen?: string, address?: string): MaybePromise<TokenIdentity | undefined> {
    if (!couldBeToken(token)) return undefined;
    return withValue(seen ?? this.#store.revision(), (revision) => this.#at(revision, token, address));
  }

  #at(revision: string, token: string, address: string | undefined): MaybePromise<TokenIdentity | undefined> {
    const name = nameOf(token);
    if (revision !== this.#knownRevision) {
      this.#known.clear();
      this.#knownRevision = revision;
    }
    const known = this.#known.get(name);
    if (known !== undefined) {
      return this.#clock.now() < known.untilMs && isGoodFrom(known.identity, address)
        ? known.identity
        : undefined;
    }
    return this.#load(token, name, revision, address);
  }

  async #load(
    token: string,
    name: string,
    revision: string,
    address: string | undefined,
  ): Promise<TokenIdentity | undefined> {
    const found = await this.#store.read(async (view) => {
      const live = await this.tokens.findIn(view, token);
      return live === undefined ? undefined : { live, identity: await this.#identity(view, live, name) };
    });
    if (found === undefined) return undefined;
    const { live, identity } = found;
    if (!isGoodFrom(identity, address)) return undefined;
    if (live.token.wraps) {
      const wrapped = await this.wrapping.take({ accessor: live.accessor });
      return wrapped === undefined ? undefined : { ...identity, wrapped };
    }
    if (live.token.usesLeft !== undefined) return (await this.#consume(live.accessor)) ? identity : undefined;
    // The data belongs to `revision` or a later state; an older identity must not enter the cache of a later state.
    if (this.#knownRevision === revision) {
      if (this.#known.size >= KNOWN_IDENTITIES) this.#known.clear();
      this.#known.set(name, { identity, untilMs: live.untilMs });
    }
    return identity;
  }

  #consume(accessor: string): Promise<boolean> {
    return this.tokens.consume(accessor).then(() => true, refusedAs(false, 'denied'));
  }

  async #identity(view: View, { accessor, token }: LiveToken, name: string): Promise<TokenIdentity> {
    const { displayName, meta, policies, boundCidrs } = token;
    const acl = await this.policies.acl(view, policies);
    return {
      accessor,
      displayName,
      meta,
      policies,
      acl,
      boundCidrs,
      batch: token.kind === undefined ? undefined : name,
    };
  }

  /** Returns the identity of a token (given by its text or its accessor) without counting a use. */
  async identify(which: { token: string } | { accessor: string }): Promise<TokenIdentity | undefined> {
    const live =
      'token' in which ? await this.tokens.find(which.token) : await this.tokens.get(which.accessor);
    const name = 'token' in which ? nameOf(which.token) : '';
    return live === undefined ? undefined : this.#store.read((view) => this.#identity(view, live, name));
  }

  /** Creates a recorder with the audit key of this store, which is created on first use. */
  async auditRecorder(): Promise<AuditRecorder> {
    const keys = await ensureAccessKeys(this.#store, this.#random);
    return new AuditRecorder(keys.audit, this.#clock);
  }
}

const nameOf = (token: string): string => hash('sha256', token, 'base64url');

/** Returns an identifier that is unique for the token within this process. */
export const idOf = ({ batch, accessor }: TokenIdentity): string => batch ?? accessor;

/** Whether a token may be used from an address; without an address, only if it is not bound. */
export const isGoodFrom = ({ boundCidrs }: TokenIdentity, address: string | undefined): boolean =>
  boundCidrs === undefined || (address !== undefined && isWithin(boundCidrs, address));

/* Leases of tokens: the IDs by which Vault clients look up and revoke tokens by the path that issued them. */

const ACCESSOR_LENGTH = 40;
/** Last segment of a lease ID: `h` and 256 bits in hex, which begin with the accessor. */
const LAST_SEGMENT = /^h(?<accessor>[0-9a-f]{40})[0-9a-f]{24}$/;
const REST_LENGTH = 24;

/** Returns the lease ID of a token: its path, and a suffix that is unique for that path. */
function leaseOf({ accessor, token: { path } }: TokenRecord): string {
  const rest = hash('sha256', `${path} ${accessor}`).slice(0, REST_LENGTH);
  return `${path}/h${accessor}${rest}`;
}

/**
 * Lease registry. Every service token that expires has a lease; tokens that never expire, and batch tokens, have none.
 */
class Leases {
  readonly #store: Store;
  readonly #clock: Clock;

  constructor(store: Store, clock: Clock) {
    this.#store = store;
    this.#clock = clock;
  }

  /** Finds the token of a lease, if it is valid. */
  find(lease: string): Promise<LiveToken | undefined> {
    return this.#store.read((view) => this.#findIn(view, lease));
  }

  async #findIn(view: View, lease: string): Promise<LiveToken | undefined> {
    const { accessor } = LAST_SEGMENT.exec(lease.slice(lease.lastIndexOf('/') + 1))?.groups ?? {};
    if (accessor?.length !== ACCESSOR_LENGTH) return undefined;
    const found = await liveToken(view, accessor, this.#clock.now());
    return found !== undefined && hasLease(found.token) && leaseOf(found) === lease ? found : undefined;
  }

  /** Lists the entries directly below a path: leases, and (with a final slash) paths that have further entries. */
  async list(path: string): Promise<readonly string[]> {
    const prefix = prefixOf(path);
    const found = new Set<string>();
    for await (const tokens of livingTokens(this.#store, this.#clock.now())) {
      for (const record of tokens) {
        if (!hasLease(record.token) || !isBelow(record.token, prefix)) continue;
        const rest = leaseOf(record).slice(prefix.length);
        const slash = rest.indexOf('/');
        found.add(slash === -1 ? rest : rest.slice(0, slash + 1));
      }
      await turn();
    }
    return [...found].sort();
  }

  /**
   * Revokes the token of a lease, or all expiring tokens created at a path or below it before this call, including
   * batch tokens. If the process is killed, another call revokes the remaining service tokens.
   * @param path empty for all
   */
  async revoke(path: string): Promise<void> {
    const single = await this.find(path);
    if (single !== undefined) {
      await this.#store.transact((tx) => erase(tx, single.accessor));
      return;
    }
    const now = this.#clock.now();
    const prefix = prefixOf(path);
    await this.#store.transact((tx) => endBatchTokens(tx, prefix.slice(0, -1), now));
    const isDoomed = (token: Token): boolean => hasLease(token) && isBelow(token, prefix);
    for await (const tokens of livingTokens(this.#store, now)) {
      const doomed = tokens.filter(({ token }) => isDoomed(token));
      if (doomed.length === 0) continue;
      await this.#store.transact(
        async (tx) => {
          for (const { accessor } of doomed) {
            const token = await tokenAt(tx, accessor);
            if (token !== undefined && isDoomed(token)) await erase(tx, accessor);
          }
        },
        { alone: true },
      );
    }
  }
}

const hasLease = ({ expiresMs }: Token): boolean => expiresMs !== undefined;

/** Returns the prefix of a path: with a final slash, or empty. */
function prefixOf(path: string): string {
  const plain = trimSlashes(path);
  return plain === '' ? '' : `${plain}/`;
}

const isBelow = ({ path }: Token, prefix: string): boolean => `${path}/`.startsWith(prefix);
