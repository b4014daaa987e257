import { type CofferError, corrupt, type Place, placed } from '../../../../ground/errors.ts';
import { missing, REPAIR } from '../../../refusals.ts';
import type { Area, BlobRef, Version } from '../../backend.ts';
import { isThere, listDirectory } from '../durable-files.ts';
import type { Layout } from '../layout.ts';
import type { StateDirectory, StateName } from '../state-directory.ts';
import { LogFile, type LoggedBlob, type PlacedRecord } from './log-file.ts';

/** Name of a file of the log. */
export const NUMBER = /^[1-9][0-9]{0,14}$/;

/** Name that says which file is the first one that is needed. */
export const FIRST_MARK = /^first-[1-9][0-9]{0,14}$/;

/**
 * Lists what is in the directory of the log at the same time; nothing if there is none.
 * @returns `numbers` of its files; `firsts`, numbers of the files before which none is needed, more than one only if
 * somebody else made them; both ascending
 */
export function listing(layout: Layout) {
  const names = listDirectory(layout.log);
  const marks = names.filter((name) => FIRST_MARK.test(name));
  return {
    numbers: ascending(names.filter((name) => NUMBER.test(name))),
    firsts: ascending(marks.map((name) => name.slice('first-'.length))),
  };
}

const ascending = (numbers: readonly string[]): number[] => numbers.map(Number).sort((a, b) => a - b);

/** Lists the numbers of the files of the log, ascending; none if there is no log. */
export const listLog = (layout: Layout): readonly number[] => listing(layout).numbers;

/** Returns the numbers that count: those below a gap are of files that were deleted, but came back. */
export function withoutGap(numbers: readonly number[]): readonly number[] {
  const from = numbers.findLastIndex(
    (number, index) => index > 0 && number !== (numbers[index - 1] ?? 0) + 1,
  );
  return from === -1 ? numbers : numbers.slice(from);
}

/** Creates the error for a log that is missing, or whose directory has no file of it. */
export const missingLog = ({ log }: Layout): CofferError =>
  isThere(log)
    ? corrupt(placed`${{ file: log }} contains no log file`, { hint: REPAIR })
    : missing({ file: log }, REPAIR);

/** Hint for what a damaged log may have a newer content of. */
export const REPAIR_LOG = 'run "coffer doctor --repair": it keeps everything that can still be read';

/** Records of a file that the state does not include yet. */
export interface Above {
  readonly file: LogFile;
  readonly records: readonly PlacedRecord[];
}

/** What is shown of a damaged log. */
interface Substitute {
  readonly version: Version;
  find(ref: BlobRef): LoggedBlob | undefined;
  names(area: Area): Iterable<readonly [name: string, isThere: boolean]>;
  unlisted(area: Area): CofferError | undefined;
}

/**
 * The log of a store, as far as it was read: changes that are not in the documents yet, or are there as well.
 * @see docs/decisions/0321
 */
export class Log {
  readonly #layout: Layout;
  /** Oldest first, with no number missing. */
  #files: readonly LogFile[] = [];
  /** Number of the file before which none is needed; 0 if all are. */
  #first = 0;
  /** Bytes of the ID of the store. */
  storeId: Uint8Array = new Uint8Array(16);
  /** What is shown instead, if the log is damaged. */
  rescued: Substitute | undefined;
  /** History of the state file that it was read beside. */
  history: string | undefined;
  /** State that the log was read up to, or that this process made with its last record. */
  at: StateName | undefined;
  /** Whether it was looked at once, so that the state's names are trusted from then on. */
  isKnown = false;
  /** Version that it was read up to, if that was above the state's name; and the revision of that name. */
  proven: { readonly version: Version; readonly named: number } | undefined;

  constructor(layout: Layout) {
    this.#layout = layout;
  }

  get files(): readonly LogFile[] {
    return this.#files;
  }

  get newest(): LogFile | undefined {
    return this.#files.at(-1);
  }

  /** Version that the log proves, as far as it was read; undefined if there is no log. */
  get version(): Version | undefined {
    const { newest } = this;
    if (newest === undefined) return undefined;
    const revision = Math.max(...this.#files.map((file) => file.revision));
    return { generation: newest.head.generation + (newest.lastKind === 'rekey' ? 1 : 0), revision };
  }

  /** Forgets what was read, because another log may be there. */
  forget(): void {
    this.#files = [];
    this.rescued = undefined;
    this.at = undefined;
    this.isKnown = false;
    this.proven = undefined;
  }

  /**
   * Begins with what another instance has read beside the same state file: the store may have been replaced since by
   * another copy.
   */
  adopt(other: Log): void {
    if (other.history === undefined || other.history !== this.history) return;
    this.#files = other.#ownFiles();
  }

  /** Returns what was read so far, to be read further before anybody is shown it. */
  copy(): Log {
    const copy = new Log(this.#layout);
    copy.storeId = this.storeId;
    copy.history = this.history;
    copy.#files = this.#ownFiles();
    copy.#first = this.#first;
    return copy;
  }

  /** Files that another instance goes on with; those that end where the next one begins are not read any further. */
  #ownFiles(): LogFile[] {
    return this.#files.map((file, index) =>
      file.revision === this.#files[index + 1]?.head.base ? file : file.copy(),
    );
  }

  /**
   * Shows what a copy has read, in one step with the version that this is: whoever is told a version must not find what
   * another one has.
   * @param at present state
   * @param proven version that was read, if that is above the state's name
   */
  become(copy: Log, at: StateName | undefined, proven?: Version): void {
    this.#first = copy.#first;
    // A session of this process goes on with the file that it writes to.
    this.#files = copy.#files.map((file) => this.#files.find((own) => own.isAsFarAs(file)) ?? file);
    this.at = at;
    this.isKnown = at !== undefined;
    this.proven = at && proven && { version: proven, named: at.revision };
    this.rescued = undefined;
  }

  /** Whether what was read belongs to a later state of the same history. */
  isAfter({ revision }: Version): boolean {
    const known = this.version?.revision ?? 0;
    return revision < (known === this.proven?.version.revision ? this.proven.named : known);
  }

  /**
   * Reads the records up to a revision, and forgets those above it.
   * @param isStrict whether the log ends where the content of any blob is damaged; otherwise whoever reads that is told
   * @returns false if a file was deleted meanwhile: then the state has changed, or everything has to be looked at again
   */
  follow(upTo: number, isStrict = false): boolean {
    const files: LogFile[] = [];
    const { numbers, firsts } = listing(this.#layout);
    for (const number of withoutGap(numbers)) {
      const at = { number, path: this.#layout.logFile(number), storeId: this.storeId };
      const known = this.#files.find((each) => each.number === number && !each.isAbove(upTo));
      const file = LogFile.read(at, { upTo, isStrict }, known);
      if (file === undefined) return false;
      files.push(file);
    }
    this.#files = files;
    this.#first = firsts.at(-1) ?? 0;
    return true;
  }

  /** Forgets files that were deleted: what they said is in the documents. */
  forgetDeleted(): void {
    while (this.#files.length > 1 && this.#files[0] !== undefined && !isThere(this.#files[0].path))
      this.#files = this.#files.slice(1);
  }

  /** Whether nobody has added a file or a record since this process read or wrote the last one. Cheap. */
  isUnchanged(): boolean {
    const { newest } = this;
    this.forgetDeleted();
    return (
      newest !== undefined &&
      !isThere(this.#layout.logFile(newest.number + 1)) &&
      newest.isStillTheEnd() === true
    );
  }

  /** Returns the whole records above the revision that was followed to, as they were then, oldest first. */
  above(): readonly Above[] {
    return this.#files
      .map((file) => ({ file, records: file.above }))
      .filter(({ records }) => records.length > 0);
  }

  /** Returns the version that the log proves together with records above it; undefined if there is no log. */
  versionWith(above: readonly Above[]): Version | undefined {
    const { version } = this;
    const last = above.at(-1)?.records.at(-1)?.record;
    if (version === undefined || last === undefined || last.revision < version.revision) return version;
    return { generation: last.generation + (last.kind === 'rekey' ? 1 : 0), revision: last.revision };
  }

  /**
   * Checks that the log explains a state that was read completely.
   * @returns the error for a log that was damaged, exchanged or deleted; undefined for a whole one
   */
  contradiction(state: Version): CofferError | undefined {
    const { newest, version } = this;
    if (newest === undefined || version === undefined) return missingLog(this.#layout);
    // Files of a generation before are not needed any more.
    const first = this.#files.find(({ head }) => head.generation === newest.head.generation);
    if (first !== undefined && first === this.#files[0] && this.#needsOlder(first))
      return missing({ file: this.#layout.logFile(first.number - 1) }, REPAIR);
    for (const [index, { path, revision, next }] of this.#files.slice(0, -1).entries()) {
      const base = this.#files[index + 1]?.head.base;
      if (base !== revision)
        return corrupt(
          placed`${{ file: path }} is damaged at offset ${next}: it ends at revision ${revision}, but the next file begins at revision ${base ?? 0}`,
          { hint: REPAIR },
        );
    }
    if (version.revision < state.revision)
      return corrupt(
        placed`${{ file: newest.path }} is damaged at offset ${newest.next}: it ends at revision ${version.revision}, but the store was at revision ${state.revision}`,
        { hint: REPAIR },
      );
    const isRight =
      version.revision === state.revision
        ? version.generation === state.generation
        : version.generation >= state.generation;
    if (!isRight)
      return corrupt(
        placed`${{ file: newest.path }} is damaged: it belongs to generation ${newest.head.generation}, but the store was at generation ${state.generation}`,
        { hint: REPAIR },
      );
    return undefined;
  }

  /** Whether something is in the file before one that may be nowhere else. */
  #needsOlder({ head, number }: LogFile): boolean {
    if (head.isFirst || number <= this.#first) return false;
    // Where a listing takes a while, it may miss a name that is given to another file meanwhile.
    this.#first = listing(this.#layout).firsts.at(-1) ?? 0;
    return number > this.#first;
  }

  /** Returns the error for a content that is damaged, although the log is whole otherwise; undefined if there is none. */
  damage(): CofferError | undefined {
    for (const { path, damagedAt } of this.#files)
      if (damagedAt !== undefined)
        return corrupt(placed`${{ file: path }} is damaged at offset ${damagedAt}`, { hint: REPAIR });
    return undefined;
  }

  /**
   * Returns what the log says about a blob; undefined if that is in the documents.
   * @throws `corrupt` if its content is damaged
   */
  find(generation: number, ref: BlobRef): LoggedBlob | undefined {
    if (this.rescued?.version.generation === generation) return this.rescued.find(ref);
    const file = this.#fileWith(generation, ref);
    // If the file is gone by now, the blob is in the documents, and what older files say is out of date.
    const found = file?.find(ref.area, ref.name);
    if (file === undefined || found?.damagedAt === undefined) return found;
    const blob = { file: this.#layout.blob(generation, ref) };
    throw damagedBlob(blob, file.path, found.damagedAt);
  }

  /** Whether the log puts a blob (true), deletes it (false), or does not name it. */
  has(generation: number, ref: BlobRef): boolean | undefined {
    if (this.rescued?.version.generation === generation) {
      const found = this.rescued.find(ref);
      return found && found.bytes !== undefined;
    }
    return this.#fileWith(generation, ref)?.has(ref.area, ref.name);
  }

  /** Returns the newest file that names a blob. */
  #fileWith(generation: number, { area, name }: BlobRef): LogFile | undefined {
    return this.#files.findLast(
      (file) => file.head.generation === generation && file.has(area, name) !== undefined,
    );
  }

  /** Returns the error for names of an area that damage may hide; undefined if all are known. */
  unlisted(generation: number, area: Area): CofferError | undefined {
    return this.rescued?.version.generation === generation ? this.rescued.unlisted(area) : undefined;
  }

  /** Applies the log to the names of the blobs that are in an area's directory. */
  apply(generation: number, area: Area, names: Set<string>): void {
    const sources =
      this.rescued?.version.generation === generation
        ? [this.rescued]
        : this.#files.filter(({ head }) => head.generation === generation);
    for (const source of sources) {
      for (const [name, isPresent] of source.names(area)) {
        if (isPresent) names.add(name);
        else names.delete(name);
      }
    }
  }

  /** Adds a file that this process has made; a look may have found it meanwhile. */
  add(file: LogFile): void {
    this.#files = [...this.#files.filter(({ number }) => number !== file.number), file];
  }
}

/** Returns the error for a blob whose last content cannot be read. */
export const damagedBlob = (blob: Place, path: string, offset: number): CofferError =>
  corrupt(
    placed`${blob} is damaged: its latest content is in ${{ file: path }}, in a damaged change at offset ${offset}`,
    { hint: REPAIR_LOG },
  );

/** Directory that contains a store. */
export interface StoreDirectory {
  readonly layout: Layout;
  readonly state: StateDirectory;
  readonly log: Log;
}
