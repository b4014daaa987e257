import { statSync } from 'node:fs';
import { isThere } from '../../ground/directories.ts';
import { asCofferError, denied, refusedAs } from '../../ground/errors.ts';
import type { FileFormat, SecretFile } from '../../secret-files/format.ts';
import { MAX_FILE_BYTES } from '../../secret-files/formats.ts';
import { isSecret, RULES_NAME } from '../../secret-files/rules.ts';
import { align } from '../../secret-files/three-way.ts';
import { formatValue, type SealedValue } from '../../secret-files/value.ts';
import type { KeyReference } from '../../transit/envelope/ports.ts';
import { readFileWhole } from '../files/in-file.ts';
import { refuseWayOut, unmergedSides } from '../repository/git.ts';
import { Files } from '../secret-files/files.ts';
import { refuseReadable, requireRules } from '../secret-files/left-readable.ts';
import { mergeFile } from '../secret-files/merge-file.ts';
import { Rulebook } from '../secret-files/rulebook.ts';
import {
  FILE,
  formatFor,
  refuseStandardInput,
  replaceSecretFile,
  requireReadable,
  textOf,
} from '../secret-files/secret-file.ts';
import {
  type KnownValues,
  knownValues,
  locatedIn,
  openFiles,
  requireFile,
  sealFiles,
} from '../secret-files/transform.ts';
import { openValues } from '../secret-files/values.ts';
import type { Session } from '../session.ts';
import type { CountedVersions } from '../team/team-keys.ts';
import { shellWord } from '../terminal/shell-word.ts';
import type { DraftFile } from './draft.ts';

const EMPTY: Readonly<Record<FileFormat['name'], string>> = { dotenv: '', yaml: '', json: '{}\n' };
/** Maximum number of names in a warning. */
const MOST_NAMES = 10;
const NOTHING_CHANGED = 'No changes made.';

/** Converts the edited text back to the encrypted file. */
export class Takeover {
  /** Initial plaintext. */
  readonly shown: string;
  /** Text of the file that it was made from; undefined if there is none. */
  readonly base: string | undefined;
  readonly #session: Session;
  readonly #target: EditTarget;
  /** States whose ciphertexts may be reused for unchanged values. */
  readonly #known: EditedState[];
  /** Doubtful values of both sides, for a file that git could not merge. */
  readonly #conflict: readonly DoubtfulValues[] | undefined;

  private constructor(
    session: Session,
    target: EditTarget,
    begin: { readonly shown: string; readonly base: string | undefined; readonly known: EditedState[] },
    conflict?: readonly DoubtfulValues[],
  ) {
    this.#session = session;
    this.#target = target;
    this.shown = begin.shown;
    this.base = begin.base;
    this.#known = begin.known;
    this.#conflict = conflict;
  }

  /**
   * Decrypts a file. For one that git could not merge, it reads both sides from the index.
   * @throws errors of reading, parsing and opening, which name file, line and value
   */
  static async begin(session: Session, target: EditTarget, directory: string): Promise<Takeover> {
    const base = presentOf(target)?.text;
    const sides = base?.includes('<<<<<<<') === true ? unmergedSides(target.path) : undefined;
    if (sides === undefined) {
      const known = base === undefined ? [] : [await stateOf(session, target, base)];
      const shown = known[0]?.plain.text ?? EMPTY[target.format.name];
      return new Takeover(session, target, { shown, base, known });
    }
    const [was, ours, theirs] = await Promise.all([
      sideOf(session, target, textOf(target.name, sides.base) || EMPTY[target.format.name]),
      sideOf(session, target, textOf(target.name, sides.ours)),
      sideOf(session, target, textOf(target.name, sides.theirs)),
    ]);
    const labels = ['ours', 'theirs'] as const;
    const doubts = { ours: doubtsOf(ours, theirs), theirs: doubtsOf(theirs, ours) };
    warnOfDoubts(session, target.name, doubts);
    const aligned = align(was.plain, ours.plain, theirs.plain, new Map());
    const shown = mergeFile({ ...aligned, labels }, directory).bytes.toString();
    const conflict = Object.values(doubts);
    return new Takeover(session, target, { shown, base, known: [ours, theirs, was] }, conflict);
  }

  /**
   * Encrypts a draft and writes the file. If the file was changed meanwhile, both changes are merged; if they conflict,
   * the draft gets conflict markers.
   * @returns description of what was done, or `again` if the draft must be edited again
   */
  async take(draft: DraftFile): Promise<string | 'again'> {
    if (!draft.isChanged() && this.#conflict === undefined) return NOTHING_CHANGED;
    const { format, name } = this.#target;
    let plain = format.parse(textOf(name, draft.read()), name);
    const now = presentOf(this.#target);
    // A file that was removed meanwhile is created again.
    if (now !== undefined && now.text !== draft.base) {
      const merged = await this.#merged(draft, plain, now.text);
      if (merged === undefined) return 'again';
      plain = merged;
    }
    await this.#requireAccepted(plain);
    const encrypted = await this.#encrypted(plain);
    if (encrypted.text === now?.text) return NOTHING_CHANGED;
    const before = now ?? { bytes: Buffer.alloc(0), stats: undefined };
    await replaceSecretFile({ path: this.#target.path, ...before }, encrypted.text);
    this.#warnOfReadable(encrypted, now?.text);
    return `Wrote ${name}.`;
  }

  /**
   * Asks about each kept value that a removed member may have written: encrypted again, it is one of the team's.
   * @throws `denied` if one is not accepted
   */
  async #requireAccepted({ places }: SecretFile): Promise<void> {
    const { settings, prompts } = this.#session;
    const path = this.#target.name;
    for (const { name, source } of places) {
      if (!this.#conflict?.some((doubts) => doubts.get(name)?.has(source))) continue;
      const told = `${path}: a removed member may have written the value of ${name}`;
      if (settings.yes || (prompts.available() && (await prompts.confirm(`${told}. Keep it?`)))) continue;
      throw denied(told, {
        hint: 'change the value, or, if all such values of the file are right, use --yes',
      });
    }
  }

  /** Warns about new values that are not encrypted because no rule is for the file. */
  #warnOfReadable(written: SecretFile, before: string | undefined): void {
    const { format, name, rule } = this.#target;
    if (rule !== undefined) return;
    const old = new Set(
      before === undefined ? [] : format.parse(before, name).places.map((place) => place.name),
    );
    const added = written.places.filter(
      (place) => place.sealed === undefined && isSecret(place, undefined) && !old.has(place.name),
    );
    if (added.length === 0) return;
    this.#session.warn(
      `no rule in ${RULES_NAME} is for ${name}, so these values are not encrypted: ${someOf(added.map((place) => place.name))} (run "coffer secrets encrypt ${shellWord(name)} --key KEY")`,
    );
  }

  /**
   * Merges a change of the file into the draft.
   * @returns undefined if the user has to resolve conflicts
   */
  async #merged(draft: DraftFile, plain: SecretFile, now: string): Promise<SecretFile | undefined> {
    const { format, name } = this.#target;
    const empty = EMPTY[format.name];
    const [was, others] = await Promise.all(
      [draft.base, now].map((text) => stateOf(this.#session, this.#target, text ?? empty)),
    );
    if (was === undefined || others === undefined) return undefined;
    this.#known.unshift(others, was);
    const aligned = align(was.plain, plain, others.plain, new Map());
    const merged = mergeFile({ ...aligned, labels: ['your text', name] }, draft.directory);
    const text = merged.bytes.toString();
    draft.show(text, now);
    if (merged.isClean) {
      this.#session.say(`${name} was changed while you edited it; both changes were merged.`);
      return format.parse(text, name);
    }
    this.#session.say(`${name} was changed while you edited it; resolve the conflicts in the editor.`);
    return undefined;
  }

  /**
   * Encrypts the file. Values that were encrypted keep their key, and their ciphertext if they are unchanged; for all
   * others, the rules decide.
   */
  async #encrypted(plain: SecretFile): Promise<SecretFile> {
    const { format, name: path, rule } = this.#target;
    const files = new Files(this.#session, new Map());
    const known = this.#knownValues();
    const keys = plain.places.map((place): KeyReference | undefined => {
      const before = known.get(place.name);
      const same = before?.find(({ source }) => source === place.source) ?? before?.[0];
      const isWanted =
        same === undefined ? rule !== undefined && isSecret(place, rule) : isSecret(place, undefined);
      if (place.sealed !== undefined || !isWanted) return undefined;
      return files.keyFor(this.#session, { path, rule }, same?.value);
    });
    const distinct = new Map(keys.flatMap((key) => (key === undefined ? [] : [[idOf(key), key] as const])));
    // A value that a removed member may have written is the user's now.
    const reusable = this.#knownValues((value) => !this.#known.some(({ doubtful }) => doubtful?.has(value)));
    let file = plain;
    for (const [id, key] of distinct) {
      const places = file.places.filter((_, index) => {
        const own = keys[index];
        return own !== undefined && idOf(own) === id;
      });
      const sealing = { path, format, file, key, places, known: reusable };
      file = requireFile((await sealFiles(this.#session, [sealing]))[0]);
    }
    return file;
  }

  /** Returns the ciphertexts of all states, latest first. */
  #knownValues(isMeant: (value: SealedValue) => boolean = () => true): KnownValues {
    const all = this.#known.flatMap(({ values }) =>
      [...values].map(([name, known]) => [name, known.filter(({ value }) => isMeant(value))] as const),
    );
    const byName = Map.groupBy(all, ([name]) => name);
    return new Map([...byName].map(([name, entries]) => [name, entries.flatMap(([, values]) => values)]));
  }
}

const idOf = ({ mount, name }: KeyReference): string => `${mount}/${name}`;

/** Decrypted state of a file. */
interface EditedState {
  readonly plain: SecretFile;
  readonly values: KnownValues;
  /** Values that removed members of a keyring may have written; in a side of a merge conflict only. */
  readonly doubtful?: ReadonlySet<SealedValue>;
}

/**
 * Decrypts a state of the file.
 * @throws `conflict` for a readable value in the place of a secret: encrypted, it would look like one of the team's
 */
async function stateOf(
  session: Session,
  { format, name, path, rulebook }: EditTarget,
  text: string,
  which?: CountedVersions,
): Promise<EditedState> {
  const file = format.parse(text, name);
  const used = file.places.map((place) => ({ place }));
  await refuseReadable(session, rulebook, { path, format, file }, used);
  const [result] = await openFiles(session, [{ path: name, format, file }], undefined, which);
  const plain = requireFile(result);
  return { plain, values: knownValues(file, plain) };
}

/**
 * Decrypts a side of a merge conflict. Its values may have been encrypted before a member was removed, and the conflict
 * can only be resolved by a user who sees them.
 * @throws as {@link stateOf}
 */
async function sideOf(session: Session, target: EditTarget, text: string): Promise<EditedState> {
  const strict = await stateOf(session, target, text).catch(refusedAs(undefined, 'denied'));
  if (strict !== undefined) return strict;
  const { format, name: path } = target;
  const found = locatedIn({ path, file: format.parse(text, path) });
  const results = await openValues(session, found);
  const refused = found.filter((_, index) => asCofferError(results[index])?.kind === 'denied');
  const state = await stateOf(session, target, text, 'any');
  const values = [...state.values.values()].flat();
  const texts = new Set(refused.map(({ value }) => formatValue(value)));
  return {
    ...state,
    doubtful: new Set(values.map(({ value }) => value).filter((value) => texts.has(formatValue(value)))),
  };
}

/** Plaintexts that removed members may have written, by name. */
type DoubtfulValues = ReadonlyMap<string, ReadonlySet<string>>;

/** Returns the doubtful values of a side; not those that the other side vouches for. */
function doubtsOf(side: EditedState, other: EditedState): DoubtfulValues {
  const doubts = [...side.values].map(([name, known]) => {
    const vouchedFor = other.values.get(name)?.filter(({ value }) => !other.doubtful?.has(value)) ?? [];
    const sources = known
      .filter(({ value }) => side.doubtful?.has(value))
      .map(({ source }) => source)
      .filter((source) => !vouchedFor.some((vouched) => vouched.source === source));
    return [name, new Set(sources)] as const;
  });
  return new Map(doubts.filter(([, sources]) => sources.size > 0));
}

/** Says before the editor opens which values the user has to judge. */
function warnOfDoubts(session: Session, path: string, sides: Readonly<Record<string, DoubtfulValues>>): void {
  for (const [side, doubts] of Object.entries(sides))
    if (doubts.size > 0)
      session.warn(`${path}: removed members may have written ${someOf([...doubts.keys()])} of "${side}"`);
}

/** Returns names for a message. */
function someOf(names: readonly string[]): string {
  const more = names.length > MOST_NAMES ? ` and ${names.length - MOST_NAMES} more` : '';
  return `${names.slice(0, MOST_NAMES).join(', ')}${more}`;
}

/** File that is edited. */
type EditTarget = Awaited<ReturnType<typeof targetOf>>;

/**
 * Returns the file to edit.
 * @param name path as typed, for messages
 * @param path path with links resolved
 * @throws `unsupported` if neither name nor rules tell the format; `invalid` for invalid rules, and for a link that
 * leaves the repository
 */
export async function targetOf(session: Session, name: string, path: string) {
  if (!isThere(path)) refuseStandardInput(name);
  refuseWayOut(name, name);
  const rulebook = new Rulebook(session);
  const rule = await rulebook.ruleFor(path);
  await requireRules(session, rulebook, { path });
  return { path, name, rule, rulebook, format: await formatFor(name, rule?.format, false) };
}

/** Reads the file on disk; undefined if it does not exist. */
function presentOf({ path, name }: EditTarget) {
  if (!isThere(path)) return undefined;
  const stats = statSync(path);
  requireReadable(name, stats);
  const bytes = readFileWhole(path, FILE, MAX_FILE_BYTES);
  return { text: textOf(name, bytes), bytes, stats };
}
