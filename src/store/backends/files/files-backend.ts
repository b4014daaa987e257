import type { Place } from '../../../ground/errors.ts';
import { newerFormat } from '../../header.ts';
import type {
  Area,
  Backend,
  BlobRef,
  ChooseGeneration,
  ExclusiveOptions,
  Flaw,
  Mend,
  OpensBlobs,
  Version,
  WriteSession,
} from '../backend.ts';
import type { BackendOptions } from '../backend-kind.ts';
import { versionOf, type Witness } from '../witness.ts';
import { isThere, readBlobFile } from './durable-files.ts';
import { formatOf, newerFormatOf, WITH_LOG, withFormat } from './header-format.ts';
import { DAMAGED, type Glance, glanceAt } from './log/glance.ts';
import type { LoggedFiles } from './logged-files.ts';
import { OpenedFiles } from './opened-files.ts';
import type { StateName } from './state-directory.ts';

/** What a first look has found. */
type GlancedState = NonNullable<ReturnType<typeof glanced>>;

/**
 * Store in a directory of files, shared by any number of processes. Layout: docs/format.md.
 *
 * The log is nearly always complete and ends with the current state; then a glance (`glance.ts`) is enough for a
 * command that only reads. Otherwise, and for a change, everything else is loaded.
 */
export class FilesBackend implements Backend {
  readonly #opened: OpenedFiles;
  readonly #options: BackendOptions;
  #shown: GlancedState | undefined;
  #logged: LoggedFiles | undefined;
  #loading: Promise<LoggedFiles> | undefined;
  #isClosed = false;
  /** Header as it was read last, and as it is shown. */
  #header: { readonly bytes: Buffer; readonly shown: Buffer } | undefined;

  constructor(directory: string, options: BackendOptions = {}) {
    this.#opened = new OpenedFiles(directory);
    this.#options = options;
  }

  get place(): Place {
    return this.#opened.place;
  }

  get headerPlace(): Place {
    return this.#opened.headerPlace;
  }

  get witness(): Witness {
    return this.#opened.state.witness;
  }

  locate(generation: number, ref: BlobRef): Place {
    return { file: this.#opened.layout.blob(generation, ref) };
  }

  async header(): Promise<Uint8Array> {
    const bytes = this.#opened.readHeader();
    if (this.#header?.bytes.equals(bytes) === true) return this.#header.shown;
    const newer = newerFormatOf(bytes);
    if (newer !== undefined) throw newerFormat(this.headerPlace, newer, WITH_LOG);
    this.#header = { bytes, shown: withFormat(bytes, 1) };
    return this.#header.shown;
  }

  async format(): Promise<number> {
    return formatOf(this.#opened.readHeader());
  }

  async state(): Promise<Version> {
    if (this.#logged !== undefined) return this.#logged.state();
    const opened = this.#opened;
    const name = opened.readName();
    if (this.#shown === undefined) this.#shown = glanced(opened, name);
    if (this.#shown?.name !== name) return (await this.#load()).state();
    const { version } = this.#shown;
    opened.show(version);
    return version;
  }

  async read(generation: number, ref: BlobRef): Promise<Uint8Array | undefined> {
    const found = await this.#find(generation, ref);
    if (found === DAMAGED) return (await this.#load()).read(generation, ref);
    if (found === undefined) return readBlobFile(this.#opened.layout.blob(generation, ref));
    // A copy, because callers may change what they get.
    return found.bytes && Buffer.from(found.bytes);
  }

  async has(generation: number, ref: BlobRef): Promise<boolean> {
    if (this.#logged !== undefined) return this.#logged.has(generation, ref);
    const found = await this.#find(generation, ref);
    if (found === DAMAGED) return (await this.#load()).has(generation, ref);
    return found === undefined
      ? isThere(this.#opened.layout.blob(generation, ref))
      : found.bytes !== undefined;
  }

  /** Returns what the log says about a blob, if a glance at it says that. */
  async #find(generation: number, ref: BlobRef): Promise<ReturnType<Glance['find']>> {
    if (this.#shown === undefined && this.#logged === undefined) await this.state();
    return this.#logged === undefined ? this.#shown?.log.find(generation, ref) : DAMAGED;
  }

  async names(generation: number, area: Area, isPartial = false): Promise<string[]> {
    if (this.#shown === undefined && this.#logged === undefined) await this.state();
    const log = this.#shown?.log;
    if (this.#logged !== undefined || log === undefined)
      return (await this.#load()).names(generation, area, isPartial);
    return this.#opened.names(generation, area, log);
  }

  async strays(): Promise<Place[]> {
    return (await this.#load()).strays();
  }

  async flaws(): Promise<readonly Flaw[]> {
    return (await this.#load()).flaws();
  }

  async repair(choose: ChooseGeneration, opens?: OpensBlobs): Promise<readonly Mend[]> {
    return (await this.#load()).repair(choose, opens);
  }

  async exclusive<T>(work: (session: WriteSession) => Promise<T>, options?: ExclusiveOptions): Promise<T> {
    return (await this.#load()).exclusive(work, options);
  }

  close(): void {
    this.#isClosed = true;
    this.#logged?.close();
  }

  /** Loads what reads any log, and writes it. What a glance has shown is read again. */
  #load(): Promise<LoggedFiles> {
    this.#loading ??= import('./logged-files.ts').then(({ LoggedFiles: Logged }) => {
      const logged = new Logged(this.#opened, this.#options, this.#shown?.history);
      if (this.#isClosed) logged.close();
      this.#logged = logged;
      this.#shown = undefined;
      return logged;
    });
    return this.#loading;
  }
}

/** Glances at the log. @returns undefined if more than a glance is needed */
function glanced({ layout, state, storeId }: OpenedFiles, name: StateName) {
  const log = glanceAt(layout, storeId, name);
  return log && { name, version: versionOf(name), log, history: state.history };
}
