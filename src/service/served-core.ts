import { join, win32 } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Access } from '../access/access.ts';
import type { AuditedRequest, AuditedResponse, AuditRecorder } from '../access/audit-record.ts';
import { type Aside, CofferError, type Place, printText } from '../ground/errors.ts';
import type { MaybePromise } from '../ground/maybe-promise.ts';
import type { Mount } from '../mounts/mount.ts';
import type { Core } from '../operations/declaration/operation.ts';
import type { GuardedCore } from '../operations/pipeline/asked-request.ts';
import { StoreLook } from '../operations/pipeline/store-look.ts';
import type { Dialect, Engine } from '../transit/engine.ts';

/** Sink for audit log lines. */
interface AuditAppender {
  append(line: string): Promise<void> | undefined;
}

/** What a server does about events of its core. */
interface ServedEvents {
  /** Called for each login that fails because of the client. */
  readonly loginFailed: () => void;
  /** Called for the first look at the store that succeeds, and for the next one after each `doubt`. */
  readonly isUsable: () => void;
}

const NO_EVENTS: ServedEvents = { loginFailed: () => undefined, isUsable: () => undefined };

/** Core of an unsealed server, with cached data that every request needs. */
export class ServedCore implements GuardedCore {
  readonly core: Core;
  readonly access: Access;
  /** Engines by mount path, for each dialect of callers; as of the revision. */
  readonly #engines: Map<string, MaybePromise<Engine>>[] = [];
  readonly #recorder: AuditRecorder | undefined;
  readonly #auditLog: AuditAppender | undefined;
  readonly loginFailed: () => void;
  readonly #isUsable: () => void;
  #isDoubted = true;
  #looking: Promise<StoreLook> | undefined;
  /** Number of looks at the store; and the look whose result is in use. */
  #looks = 0;
  #takenUp = 0;
  #present = new StoreLook('', []);

  private constructor(
    core: Core,
    access: Access,
    events: ServedEvents,
    recorder?: AuditRecorder,
    auditLog?: AuditAppender,
  ) {
    const speakers: Readonly<Record<Dialect, Core>> = {
      service: { ...core, engine: this.#engineIn(core, 'service'), speaking: (dialect) => speakers[dialect] },
      vault: { ...core, engine: this.#engineIn(core, 'vault'), speaking: (dialect) => speakers[dialect] },
    };
    this.core = speakers.service;
    this.access = access;
    this.#recorder = recorder;
    this.#auditLog = auditLog;
    this.loginFailed = events.loginFailed;
    this.#isUsable = events.isUsable;
  }

  static async over(
    core: Core,
    auditLog: AuditAppender | undefined,
    events: ServedEvents = NO_EVENTS,
  ): Promise<ServedCore> {
    const access = await core.access();
    return new ServedCore(core, access, events, auditLog && (await access.auditRecorder()), auditLog);
  }

  /**
   * Returns the store's current revision, after updating everything that depends on it. All requests that arrived by
   * this turn of the event loop share one look at the store; the look comes after the last of them, so it is fresh for
   * each.
   * @see docs/decisions/0063
   */
  look(): Promise<StoreLook> {
    this.#looking ??= this.#lookOnce();
    return this.#looking;
  }

  /** Has the next look that succeeds reported. */
  doubt(): void {
    this.#isDoubted = true;
  }

  async #lookOnce(): Promise<StoreLook> {
    const look = ++this.#looks;
    await nextTurn();
    // Requests that arrive from here on need a new look: they may know of later commits.
    this.#looking = undefined;
    const revision = await this.core.store.revision();
    // Each request looks, so nothing is called while all is well.
    if (this.#isDoubted) {
      this.#isDoubted = false;
      this.#isUsable();
    }
    if (revision === this.#present.revision) return this.#present;
    await this.#moveTo(revision, look);
    // A look that was slower than a later one has the later mounts, which know better.
    return this.#present.asOf(revision);
  }

  /** Revision of a `look`. */
  async revision(): Promise<string> {
    return (await this.look()).revision;
  }

  async #moveTo(revision: string, look: number): Promise<void> {
    const mounts = await this.core.mounts.list();
    // A later look may have been faster, and has newer data.
    if (look < this.#takenUp) return;
    this.#takenUp = look;
    for (const engines of this.#engines) engines.clear();
    this.#present = new StoreLook(revision, mounts);
  }

  /** Finds the mount of a path. Mounts are never nested, so there is at most one. */
  mountOf(path: string): Mount | undefined {
    return this.#present.mountOf(path);
  }

  /** Caches the engine of a mount while the store does not change; every request has read the revision. */
  #engineIn(core: Core, dialect: Dialect): Core['engine'] {
    const engines = new Map<string, MaybePromise<Engine>>();
    this.#engines.push(engines);
    return (mount) => {
      const known = engines.get(mount);
      if (known !== undefined) return known;
      const engine = core.speaking(dialect).engine(mount);
      engines.set(mount, engine);
      if (engine instanceof Promise) {
        engine.then(
          (opened) => {
            // Unless the store has changed meanwhile.
            if (engines.get(mount) === engine) engines.set(mount, opened);
          },
          () => engines.delete(mount),
        );
      }
      return engine;
    };
  }

  async recordRequest(request: AuditedRequest): Promise<void> {
    if (this.#recorder !== undefined) await this.#auditLog?.append(this.#recorder.request(request));
  }

  recordResponse(request: AuditedRequest, response: AuditedResponse): Promise<void> | undefined {
    return this.#recorder && this.#auditLog?.append(this.#recorder.response(request, response));
  }
}

/**
 * Logs why a request could not be answered.
 * @returns the error for the client; undefined for an internal one
 */
export type NoteFailure = (error: unknown) => CofferError | undefined;

/** Whether an error is about the server's disk or database, not about the request. */
export const isOfServer = ({ kind, where }: CofferError): boolean =>
  kind === 'corrupt' || kind === 'unavailable' || kind === 'unconfirmed' || where !== undefined;

/**
 * Returns an error for remote clients, who must not see the server's paths: files are named relative to the store, or
 * by their name only. A hint about such a path could only be followed on the server, and is omitted. A missing part of
 * the server itself is reported as unavailable instead of not found, because it may return.
 * @param store directory of the store, or `postgres://…`
 * @see docs/decisions/0124
 */
export function outsideView(error: CofferError, store: string): CofferError {
  const { message, hint } = error.texts;
  const hasPlace = typeof hint === 'object';
  if (typeof message === 'string' && !hasPlace) return error;
  return new CofferError(
    error.kind === 'not-found' && isOfServer(error) ? 'unavailable' : error.kind,
    printText(message, (part) => outsideName(part, store)),
    { field: error.field, hint: hasPlace ? undefined : hint },
  );
}

function outsideName(part: Place | Aside, store: string): string {
  if ('outside' in part) return part.outside;
  if ('database' in part) return part.part === undefined ? 'the store' : `the store (${part.part})`;
  const { file } = part;
  if (file === store) return 'the store';
  const within = join(store, '-').slice(0, -1);
  // Windows path functions recognize both separators.
  return file.startsWith(within) ? file.slice(within.length) : win32.basename(file);
}
