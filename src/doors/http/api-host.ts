import { AuditLog } from '../../access/audit-log.ts';
import { asCofferError } from '../../ground/errors.ts';
import { openCore } from '../../operations/core.ts';
import type { Core, ServerState } from '../../operations/declaration/operation.ts';
import type { ServedRoute } from '../../operations/routes.ts';
import type { Log } from '../../service/log.ts';
import { isOfServer, type NoteFailure, outsideView } from '../../service/outside-view.ts';
import { sealedStore } from '../../service/sealed-store.ts';
import { ServedCore } from '../../service/served-core.ts';
import { credentialsOf, type UnsealKey } from '../../service/unseal-keys.ts';
import { openStore } from '../../store/open.ts';
import type { Store } from '../../store/store.ts';
import type { Dialect } from '../../transit/engine.ts';
import { Apis } from './apis.ts';
import type { Answer, Exchange } from './exchange.ts';

/** What every process of a server needs to know of its store; plain JSON. */
export interface StoreSettings {
  readonly directory: string;
  readonly dialect?: Dialect;
  readonly auditFile?: string;
}

export interface ApiHostOptions {
  readonly settings: StoreSettings;
  readonly routes: readonly ServedRoute[];
  readonly server: ServerState;
  readonly log: Log;
  readonly onDefect?: () => void;
}

/** The APIs over a store that is opened and closed while they run. */
export class ApiHost {
  readonly #options: ApiHostOptions;
  readonly #apis: Apis;
  #auditLog: AuditLog | undefined;
  #store: Store | undefined;
  #served: ServedCore | undefined;

  readonly failed: NoteFailure = (error) => {
    const { log, onDefect, settings } = this.#options;
    const known = asCofferError(error);
    if (known === undefined) {
      onDefect?.();
      log.defect('request failed', error);
      return undefined;
    }
    if (isOfServer(known)) log.warn('request failed', { kind: known.kind, reason: known.message });
    return outsideView(known, settings.directory);
  };

  private constructor(options: ApiHostOptions, auditLog: AuditLog | undefined) {
    this.#options = options;
    this.#auditLog = auditLog;
    this.#apis = new Apis({
      routes: options.routes,
      served: () => this.#served,
      sealedCore: this.#core(sealedStore),
      apiDocument: () => options.server.apiDocument(),
      failed: this.failed,
    });
  }

  /** Sealed at first. @throws `unavailable` when the audit file can't be opened. */
  static async create(options: ApiHostOptions): Promise<ApiHost> {
    const { auditFile } = options.settings;
    return new ApiHost(options, auditFile === undefined ? undefined : await AuditLog.open(auditFile));
  }

  get served(): ServedCore | undefined {
    return this.#served;
  }

  /** Never throws. */
  answer(exchange: Exchange): Promise<Answer> {
    return this.#apis.answer(exchange);
  }

  /** Whether a request may ask for far more work than its length tells. */
  unfolds(exchange: Exchange): boolean {
    return this.#apis.unfolds(exchange);
  }

  /** @throws `denied` when no key fits; what was open stays open. */
  async unseal(keys: readonly UnsealKey[]): Promise<void> {
    const { directory } = this.#options.settings;
    await this.adopt(await openStore({ directory, credentials: credentialsOf(keys) }));
  }

  /** Takes over a store that is open already. */
  async adopt(store: Store): Promise<void> {
    const before = this.#store;
    this.#served = await this.#serve(store);
    this.#store = store;
    before?.close();
  }

  /** Requests that are under way find the store closed. */
  seal(): void {
    this.#served = undefined;
    this.#store?.close();
    this.#store = undefined;
  }

  /** Starts afresh over the open store, with empty caches. */
  async reload(): Promise<void> {
    this.#auditLog?.reopen();
    if (this.#store !== undefined) {
      this.#served = await this.#serve(this.#store);
    }
  }

  /** A core over the store, with settings that wait for a reload taken up. */
  async #serve(store: Store): Promise<ServedCore> {
    const core = this.#core(store);
    for (const mount of await core.mounts.list('transit'))
      await (await core.transit(mount.path)).applyCacheSize();
    return ServedCore.over(core, this.#auditLog);
  }

  async close(): Promise<void> {
    this.seal();
    await this.#auditLog?.close();
    this.#auditLog = undefined;
  }

  #core(store: Store): Core {
    const { server, settings } = this.#options;
    return openCore(store, {
      server,
      ...(settings.dialect === undefined ? {} : { dialect: settings.dialect }),
    });
  }
}
