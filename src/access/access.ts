import type { Clock } from '../clock.ts';
import { unavailable } from '../errors.ts';
import type { Random } from '../random.ts';
import type { Store } from '../store/store.ts';
import type { AuditRecorder } from './audit-record.ts';

/** What a request asks a policy for. `sudo` stands beside another one. */
export type Capability = 'create' | 'read' | 'update' | 'delete' | 'list' | 'sudo';

/** A token that was presented and is good: who calls, and what the policies allow. Good for this one request. */
export interface TokenIdentity {
  /** The handle under which the token may be named without being given away. */
  readonly accessor: string;
  readonly displayName: string;
  /** Sorted; `root` stands alone. */
  readonly policies: readonly string[];
}

/** On whose behalf an operation runs. */
export interface Principal {
  readonly accessor: string;
  readonly token: string;
  may(path: string, capability: Capability): boolean;
}

export interface AccessOptions {
  readonly store: Store;
  readonly clock: Clock;
  readonly random: Random;
}

/** Tokens, policies and the audit trail of one store. */
export class Access {
  readonly #options: AccessOptions;

  constructor(options: AccessOptions) {
    this.#options = options;
  }

  /**
   * The identity behind a token, or undefined when the token is unknown, revoked, expired or used up: whoever asks
   * must not learn which. A token with a limited number of uses loses one by this call, durably.
   */
  async authenticate(token: string): Promise<TokenIdentity | undefined> {
    throw unavailable(`tokens of ${this.#options.store.id} (${token.length})`);
  }

  /**
   * Whether the identity's policies grant `capability` on `path`.
   *
   * @param path as in policies: without `/v1/` or a leading slash, e.g. `transit/encrypt/orders`.
   * @param parameters body or query of the request as parsed JSON, for `allowed_parameters` and its kin; left out,
   * rules about parameters are not applied (as when only the capabilities are asked for).
   */
  authorize(
    identity: TokenIdentity,
    path: string,
    capability: Capability,
    parameters?: Readonly<Record<string, unknown>>,
  ): boolean {
    return identity.accessor === path && capability === 'read' && parameters === undefined;
  }

  /** The capabilities on a path, sorted: `['root']` for root, `['deny']` for none. */
  capabilities(identity: TokenIdentity, path: string): readonly string[] {
    return [identity.accessor, path];
  }

  /** Whether any rule grants something on `path` or anywhere below it: the question of `sys/internal/ui/mounts`. */
  reaches(identity: TokenIdentity, path: string): boolean {
    return identity.accessor === path;
  }

  /** The caller that operations are told of. */
  caller(identity: TokenIdentity, token: string): Principal {
    return { accessor: identity.accessor, token, may: (path, capability) => this.authorize(identity, path, capability) };
  }

  /** Builds audit records with the audit key of this store. */
  async auditRecorder(): Promise<AuditRecorder> {
    throw unavailable('audit');
  }

  /** Removes tokens that expired, were used up or lost their parent. Returns how many. A server calls it now and then. */
  async sweep(): Promise<number> {
    return 0;
  }
}
