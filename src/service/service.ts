import { statfs } from 'node:fs/promises';
import { dirname } from 'node:path';
import { AuditLog } from '../access/audit-log.ts';
import { asCofferError, CofferError, ownWords, sealed } from '../ground/errors.ts';
import { inTime } from '../ground/pause.ts';
import { collectionOf } from '../mounts/mounts.ts';
import { openCore } from '../operations/core.ts';
import type { Core, ServerState } from '../operations/declaration/operation.ts';
import type { Location } from '../store/backends/backend-kind.ts';
import { directoryOf, located } from '../store/backends/registry.ts';
import { printVersion, type Sighting, WentBack } from '../store/backends/witness.ts';
import { openStore } from '../store/open.ts';
import type { SealedStore } from '../store/sealed/sealed-store.ts';
import type { Store } from '../store/store.ts';
import type { Dialect } from '../transit/engine.ts';
import { type ManyMessages, MessageCounts } from '../transit/message-counts.ts';
import { applyCacheSize } from '../transit/mount-settings.ts';
import { rotateDueKeys } from '../transit/rotation.ts';
import type { Member } from './control.ts';
import { Lanes, startLane } from './lanes.ts';
import type { Log } from './log.ts';
import { Metrics, type Snapshot, type StoreCondition } from './metrics.ts';
import { isOfServer, type NoteFailure, outsideView, ServedCore } from './served-core.ts';
import { credentialsOf, forget, type UnsealKey } from './unseal-keys.ts';

/** Store settings for every process of a server; plain JSON. */
export interface ServiceSettings {
  readonly location: Location;
  readonly dialect?: Dialect | undefined;
  /** File to which one JSON line is written for every request, before it is answered. */
  readonly auditFile?: string | undefined;
  /** Command line, after Node itself, of a process that calls `serveAsWorker`. */
  readonly workerCommand: readonly string[];
}

interface ServiceOptions {
  readonly settings: ServiceSettings;
  readonly server: ServerState;
  readonly log: Log;
  /** Last-seen state of the store, from earlier processes. */
  readonly seen?: Sighting | undefined;
}

/** Interval between deletions of expired tokens, in milliseconds. */
const SWEEP_EVERY_MS = 10 * 60 * 1000;
/** Maximum number of unexpired tokens checked per sweep for a lost mount or parent. */
const SWEPT_BY_THE_WAY = 1000;
/** Interval between checks for due key rotations, in milliseconds; the shortest rotation period is an hour. */
const ROTATE_EVERY_MS = 60 * 60 * 1000;

/**
 * Number of messages of a key version that are counted in memory before the count is written; smaller in a
 * large-request worker, which may be killed at any time.
 */
const COUNT_STEP = 2 ** 20;
const LANE_COUNT_STEP = 2 ** 12;
const COUNTS_WITHIN_MS = 1000;

/** Store as a process: opened and closed while its protocols stay open, with its audit log and maintenance. */
export class Service implements Member {
  readonly metrics: Metrics;
  /** Core for the few operations that are available while the store is sealed. */
  readonly sealedCore: Core;
  readonly #options: ServiceOptions;
  readonly #sweeping: NodeJS.Timeout;
  readonly #rotating: NodeJS.Timeout;
  #auditLog: AuditLog | undefined;
  #store: SealedStore | undefined;
  /** Last-seen state, from before the store was sealed or from a process that this one replaces. */
  #seenBefore: Sighting | undefined;
  /** Rollback that was reported, so that it is logged only once; undefined when the store is used again. */
  #alarmed: Sighting | undefined;
  #served: ServedCore | undefined;
  #lanes: Lanes | undefined;
  #messages: MessageCounts | undefined;
  /** Keys that open the store in further processes. */
  #keys: readonly UnsealKey[] = [];

  /**
   * Logs why a request could not be answered.
   * @returns the error for the client; undefined for an internal one
   */
  readonly failed: NoteFailure = (error) => {
    const { log, settings } = this.#options;
    const known = asCofferError(error);
    if (known === undefined) {
      this.metrics.defect();
      log.defect('request failed', error);
      return undefined;
    }
    if (known instanceof WentBack) this.#alarm(known);
    else if (isOfServer(known)) log.warn('request failed', { kind: known.kind, reason: reasonOf(known) });
    if (isOfServer(known)) this.metrics.storeFailure(known.kind);
    return outsideView(known, located(settings.location).text);
  };

  private constructor(options: ServiceOptions, metrics: Metrics, auditLog: AuditLog | undefined) {
    this.#options = options;
    this.metrics = metrics;
    this.#auditLog = auditLog;
    this.#seenBefore = options.seen;
    this.sealedCore = this.#core(sealedStore);
    this.#sweeping = setInterval(() => void this.#sweep(), SWEEP_EVERY_MS).unref();
    this.#rotating = setInterval(() => void this.#rotateDueKeys(), ROTATE_EVERY_MS).unref();
  }

  /**
   * Creates a sealed service.
   * @throws `unavailable` if the audit file cannot be opened
   */
  static async create(options: ServiceOptions): Promise<Service> {
    const { auditFile } = options.settings;
    const metrics = new Metrics();
    const unwritten = (records: number): void => metrics.unrecorded(records);
    const auditLog = auditFile === undefined ? undefined : await AuditLog.open(auditFile, { unwritten });
    return new Service(options, metrics, auditLog);
  }

  /** Core of the open store; undefined while the store is sealed. */
  get served(): ServedCore | undefined {
    return this.#served;
  }

  /** Worker pool for large requests; undefined while the store is sealed, and inside such a worker. */
  get lanes(): Lanes | undefined {
    return this.#lanes;
  }

  /**
   * Unseals.
   * @throws `denied` if no key fits; an open store stays open then
   */
  async unseal(keys: readonly UnsealKey[]): Promise<void> {
    const { location } = this.#options.settings;
    await this.adopt(await openStore({ location, credentials: credentialsOf(keys), seen: this.#seen }), keys);
  }

  /**
   * Adopts a store that is already open.
   * @param keys keys that open it in further processes; without them there are none
   */
  async adopt(store: SealedStore, keys?: readonly UnsealKey[]): Promise<void> {
    const { settings } = this.#options;
    const before = this.#store;
    this.#messages = this.#counts(store, keys === undefined);
    this.#served = await this.#serve(store);
    this.#store = store;
    before?.close();
    void this.#lanes?.close();
    this.#keys = keys ?? [];
    this.#lanes =
      keys === undefined
        ? undefined
        : new Lanes(() => startLane(settings.workerCommand, { settings, keys, seen: this.#seen }));
  }

  /** Seals. Requests in progress find the store closed. */
  async seal(): Promise<void> {
    this.#seenBefore = this.#seen;
    this.#served = undefined;
    await this.#writeCounts();
    this.#store?.close();
    this.#store = undefined;
    await this.#lanes?.close();
    this.#lanes = undefined;
    forget(this.#keys);
  }

  /** Starts over with empty caches on the open store. */
  async reload(): Promise<void> {
    this.#auditLog?.reopen();
    await this.#auditLog?.check().catch((error: unknown) => {
      this.#options.log.alarm('the audit log cannot be used: all requests are refused', {
        reason: asCofferError(error)?.message,
      });
    });
    if (this.#store !== undefined) this.#served = await this.#serve(this.#store);
    this.#lanes?.renew();
  }

  /** Returns the last-seen state of the store, for other processes. */
  async seen(): Promise<Sighting | undefined> {
    return this.#seen;
  }

  get #seen(): Sighting | undefined {
    return this.#store?.backend.witness.seen ?? this.#seenBefore;
  }

  async snapshot(): Promise<Snapshot> {
    const { location, auditFile } = this.#options.settings;
    const open = this.#store;
    const [store, disks] = await Promise.all([
      open === undefined ? undefined : conditionOf(open),
      freeBytes(location, auditFile),
    ]);
    return { ...this.metrics.snapshot(), store, ...disks };
  }

  /** Prints the metrics of all processes of the server. */
  printMetrics(): Promise<string> {
    return this.#options.server.metrics();
  }

  async close(): Promise<void> {
    clearInterval(this.#sweeping);
    clearInterval(this.#rotating);
    await this.#lanes?.close();
    this.#served = undefined;
    await this.#writeCounts();
    this.#store?.close();
    this.#store = undefined;
    await this.#auditLog?.close();
    this.#auditLog = undefined;
  }

  /** Creates a core over the store, and applies settings that take effect on reload. */
  async #serve(store: Store): Promise<ServedCore> {
    const core = this.#core(store);
    for (const mount of await core.mounts.list('transit')) {
      await applyCacheSize(await core.engine(mount.path));
    }
    return ServedCore.over(core, this.#auditLog, {
      loginFailed: () => this.metrics.loginFailure(),
      isUsable: () => this.#allClear(),
    });
  }

  #core(store: Store): Core {
    const { server, settings } = this.#options;
    return openCore(store, {
      server,
      dialect: settings.dialect,
      auditFile: settings.auditFile,
      messages: this.#messages,
    });
  }

  #alarm({ message, hint, from, to }: WentBack): void {
    if (this.#alarmed === from) return;
    this.#alarmed = from;
    this.#served?.doubt();
    this.#options.log.alarm('THE STORE WAS ROLLED BACK: all requests are refused', {
      reason: message,
      from: printVersion(from),
      to: printVersion(to),
      remedy: hint,
    });
  }

  /** Logs that the store is no longer older than before, or was accepted. */
  #allClear(): void {
    if (this.#alarmed === undefined) return;
    this.#alarmed = undefined;
    const seen = this.#seen;
    this.#options.log.info('the store is used again: requests are answered', {
      at: seen === undefined ? undefined : printVersion(seen),
    });
  }

  #counts(store: Store, isLane: boolean): MessageCounts {
    return new MessageCounts({
      store,
      step: isLane ? LANE_COUNT_STEP : COUNT_STEP,
      reached: (reached) => this.#sayManyMessages(store, reached),
    });
  }

  async #sayManyMessages(store: Store, { settings, ...reached }: ManyMessages): Promise<void> {
    const mounts = await this.#core(store)
      .mounts.list('transit')
      .catch(() => []);
    const mount = mounts.find((each) => collectionOf(each, 'config') === settings)?.path;
    this.#options.log.warn(
      'a key version has encrypted very many messages: rotate the key with "coffer transit keys rotate NAME"',
      { mount, ...reached },
    );
  }

  /** Counts that are not written in time are lost: sealing and exiting do not wait for the write lock. */
  async #writeCounts(): Promise<void> {
    if (this.#messages !== undefined) await inTime(this.#messages.write(), COUNTS_WITHIN_MS, () => undefined);
  }

  async #sweep(): Promise<void> {
    try {
      const core = this.#served?.core;
      if (core !== undefined) await this.#keepUpLogins(core);
      await this.#served?.access.tokens.sweep(SWEPT_BY_THE_WAY);
    } catch (error) {
      this.#options.log.defect('cannot delete expired tokens', error);
    }
  }

  async #keepUpLogins(core: Core): Promise<void> {
    const { refreshRevocations, tidyLogins } = await import('../operations/auth/upkeep.ts');
    await tidyLogins(core);
    for (const failure of await refreshRevocations(core)) {
      this.#options.log.warn('cannot refresh a CRL', { ...failure });
    }
  }

  /**
   * Rotates due keys. Keys also rotate when they are used; this is for unused ones. Each process checks, and one of
   * them rotates.
   */
  async #rotateDueKeys(): Promise<void> {
    const core = this.#served?.core;
    if (core === undefined) return;
    try {
      for (const { path } of await core.mounts.list('transit')) await this.#rotateDueKeysOf(core, path);
    } catch (error) {
      this.#options.log.defect('cannot find the keys that are due for rotation', error);
    }
  }

  async #rotateDueKeysOf(core: Core, mount: string): Promise<void> {
    const { log } = this.#options;
    try {
      const rotated = await rotateDueKeys(await core.engine(mount));
      if (rotated.length > 0) log.info('keys rotated', { mount, count: rotated.length });
    } catch (error) {
      log.defect('cannot rotate the keys that are due', error);
    }
  }
}

const refuse = async (): Promise<never> => {
  throw sealed(ownWords('the store is sealed'), { hint: 'unseal the server first' });
};

/** Placeholder for the store while a server is sealed. */
const sealedStore: Store = {
  id: '',
  read: refuse,
  transact: refuse,
  revision: refuse,
  limitCache() {},
  close() {},
};

/*
 * Checks the current condition of a server's dependencies, for monitoring: its store, and the free space on its disks.
 */

/** Response timeout of the disk or database for monitoring, in milliseconds. */
const ANSWERS_WITHIN_MS = 2000;

/** Checks the store. Never throws. */
function conditionOf(store: Store): Promise<StoreCondition> {
  const look = store.revision().then(
    (): StoreCondition => 'available',
    (error: unknown): StoreCondition => (error instanceof WentBack ? 'went-back' : 'unavailable'),
  );
  return inTime(look, ANSWERS_WITHIN_MS, () => 'unavailable' as const);
}

/** Free bytes on the disks of the store and the audit log; unknown values are omitted. */
export async function freeBytes(location: Location, auditFile: string | undefined) {
  const [storeFreeBytes, auditFreeBytes] = await Promise.all([
    freeIn(directoryOf(location)),
    freeIn(auditFile && dirname(auditFile)),
  ]);
  return { storeFreeBytes, auditFreeBytes };
}

async function freeIn(directory: string | undefined): Promise<number | undefined> {
  if (directory === undefined) return undefined;
  const asked = statfs(directory).then(
    ({ bavail, bsize }) => bavail * bsize,
    () => undefined,
  );
  return inTime(asked, ANSWERS_WITHIN_MS, () => undefined);
}

/** What operators need to know; clients see no cause. */
const reasonOf = ({ message, cause }: CofferError): string =>
  cause instanceof CofferError ? `${message} (${cause.message})` : message;
