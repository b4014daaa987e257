import type { Access } from '../access/access.ts';
import type { AuditLog } from '../access/audit-log.ts';
import type { AuditedRequest, AuditedResponse, AuditRecorder } from '../access/audit-record.ts';
import type { Core } from '../operations/operation.ts';
import type { Mount } from '../transit/mounts.ts';

/** The core of an unsealed server, with what every request needs of it at hand. */
export class ServedCore {
  readonly core: Core;
  readonly access: Access;
  readonly #recorder: AuditRecorder | undefined;
  readonly #auditLog: AuditLog | undefined;
  #revision: string | undefined;
  #mounts: ReadonlyMap<string, Mount> = new Map();

  private constructor(core: Core, access: Access, recorder?: AuditRecorder, auditLog?: AuditLog) {
    this.core = core;
    this.access = access;
    this.#recorder = recorder;
    this.#auditLog = auditLog;
  }

  static async over(core: Core, auditLog: AuditLog | undefined): Promise<ServedCore> {
    const access = await core.access();
    if (auditLog === undefined) return new ServedCore(core, access);
    return new ServedCore(core, access, await access.auditRecorder(), auditLog);
  }

  /**
   * The mount that a path lies under. Mounts never lie in one another, so there is at most one.
   * @param revision of the store, asked for since the request came in.
   */
  async mountOf(path: string, revision: string): Promise<Mount | undefined> {
    if (revision !== this.#revision) {
      const mounts = await this.core.mounts.list();
      this.#mounts = new Map(mounts.map((mount) => [mount.path, mount]));
      this.#revision = revision;
    }
    for (let slash = path.indexOf('/'); slash !== -1; slash = path.indexOf('/', slash + 1)) {
      const mount = this.#mounts.get(path.slice(0, slash));
      if (mount !== undefined) return mount;
    }
    return undefined;
  }

  get isAudited(): boolean {
    return this.#auditLog !== undefined;
  }

  /** Written before an operation runs that changes something. @throws `unavailable`: then it must not run. */
  async recordRequest(request: AuditedRequest): Promise<void> {
    if (this.#recorder !== undefined) await this.#auditLog?.append(this.#recorder.request(request));
  }

  /** Written before the answer is sent. @throws `unavailable`: then it must not be sent. */
  async recordResponse(request: AuditedRequest, response: AuditedResponse): Promise<void> {
    if (this.#recorder !== undefined)
      await this.#auditLog?.append(this.#recorder.response(request, response));
  }
}
