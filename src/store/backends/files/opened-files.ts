import { readdirSync, statSync } from 'node:fs';
import { attempt, type CofferError, type Place, placed, unavailable } from '../../../ground/errors.ts';
import { missing, noStore, REPAIR, RESTORE } from '../../refusals.ts';
import { type Area, areas, type Version } from '../backend.ts';
import { WentBack } from '../witness.ts';
import { diskError, errorCode, onDisk } from './disk-errors.ts';
import { isThere, readWhole, refuseForeign } from './durable-files.ts';
import { isOccupied, listGenerations } from './generation-files.ts';
import { storeIdOf, withFormat } from './header-format.ts';
import { Layout, parseBlobFileName, STAGED } from './layout.ts';
import { StateDirectory, type StateName } from './state-directory.ts';

/** What a log says about the names in a directory. */
interface NamesInLog {
  apply(generation: number, area: Area, names: Set<string>): void;
}

/** Store in a directory as a process has opened it: which one it is, and what was seen of it. */
export class OpenedFiles {
  readonly place: Place;
  readonly headerPlace: Place;
  readonly layout: Layout;
  readonly state: StateDirectory;
  /** Last generation whose directories were checked to be writable by us only. */
  #checkedGeneration = 0;
  /** Header of the opened store, as it is on disk. */
  #header: Buffer | undefined;
  /** Bytes of the ID of the store. */
  #storeId: Uint8Array | undefined;

  constructor(directory: string) {
    this.layout = new Layout(directory);
    this.state = new StateDirectory(directory);
    this.place = { file: directory };
    this.headerPlace = { file: this.layout.header };
  }

  /** Bytes of the ID of the store, whose header is read for it the first time. */
  get storeId(): Uint8Array {
    this.#storeId ??= storeIdOf(this.#header ?? this.readHeader());
    return this.#storeId;
  }

  /** Reads the header as it is on disk. */
  readHeader(): Buffer {
    const { layout, state } = this;
    refuseForeignDirectory(layout.directory, () => noStore(this.place, MAKE_OR_NAME));
    const bytes = readWhole(layout.header);
    if (bytes !== undefined) {
      this.#header ??= bytes;
      return bytes;
    }
    if (isThere(state.path) && listGenerations(layout).length > 0 && !isThere(layout.header + STAGED)) {
      throw missing(this.headerPlace, RESTORE);
    }
    throw noStore(this.place, attempt(() => isOccupied(layout)) === true ? OTHER_FILES : MAKE_OR_NAME);
  }

  /**
   * Reads the state's name.
   * @throws `corrupt` only if there is a store: an inaccessible store is not damaged
   */
  readName(): StateName {
    if (this.#header === undefined) this.readHeader();
    try {
      return this.state.read();
    } catch (error) {
      this.readHeader();
      throw error;
    }
  }

  /** Lists the blobs that are in an area's directory or in the log. */
  names(generation: number, area: Area, log: NamesInLog): string[] {
    const path = this.layout.area(generation, area);
    const files = onDisk('read', path, () => readdirSync(path));
    const parsed = files.map((fileName) => parseBlobFileName(area, fileName));
    const names = new Set(parsed.filter((name) => name !== undefined));
    log.apply(generation, area, names);
    return [...names];
  }

  /**
   * Checks a version against the last-seen revision, and the directories of its generation.
   * @throws WentBack if it is older; another error if it is not even the same store
   */
  show(present: Version): void {
    this.admit(present);
    if (this.#checkedGeneration !== present.generation) this.#checkDirectories(present.generation);
  }

  /**
   * Checks a version against the last-seen revision.
   * @throws WentBack if it is older; another error if it is not even the same store
   */
  admit(present: Version): void {
    try {
      this.state.admit(present);
    } catch (error) {
      this.#refuse(error);
    }
  }

  /** As `admit`, of a version that the store is only about to get: nothing is recorded. */
  examine(future: Version): void {
    try {
      this.state.examine(future);
    } catch (error) {
      this.#refuse(error);
    }
  }

  #refuse(error: unknown): never {
    if (error instanceof WentBack) this.refuseOtherStore();
    throw error;
  }

  /** @throws `unavailable` if the store is not even the one that was opened */
  refuseOtherStore(): void {
    if (this.#header === undefined || this.#hasHeader(readWhole(this.layout.header))) return;
    throw unavailable(placed`${this.place} was replaced by another store`, {
      hint: 'put the old store back, or restart the processes that use it',
    });
  }

  /** Whether a header is that of the opened store, which may have been upgraded. */
  #hasHeader(found: Buffer | undefined): boolean {
    const known = this.#header;
    return found !== undefined && known !== undefined && withFormat(found, 1).equals(withFormat(known, 1));
  }

  #checkDirectories(generation: number): void {
    const { layout, state } = this;
    const directories = [layout.directory, state.path, layout.generation(generation)];
    directories.push(...areas.map((area) => layout.area(generation, area)));
    if (state.known?.kind === 'log') directories.push(layout.log);
    for (const file of directories) {
      refuseForeignDirectory(file, () => missing({ file }, file === layout.log ? REPAIR : RESTORE));
    }
    this.#checkedGeneration = generation;
  }
}

const MAKE_OR_NAME = 'run "coffer init" to create one, or use --store or COFFER_STORE';
const OTHER_FILES =
  'the directory has other files: use --store or COFFER_STORE to name the directory of a store, or run "coffer init --store DIR" to create one';

function refuseForeignDirectory(path: string, whenMissing: () => CofferError): void {
  try {
    const stats = statSync(path);
    if (!stats.isDirectory())
      throw noStore({ file: path }, 'this path is a file: use the directory of the store');
    refuseForeign(path, stats);
  } catch (error) {
    if (errorCode(error) === 'ENOENT') throw whenMissing();
    throw diskError(error, 'read', path);
  }
}
