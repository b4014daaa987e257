import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { systemClock } from '../../ground/clock.ts';
import { move } from '../../ground/directories.ts';
import { asCofferError, attempt } from '../../ground/errors.ts';
import { version } from '../../ground/version.ts';
import type { CardFact, Fact } from '../../team/fact.ts';
import { type Loaded, loadFacts } from '../../team/files.ts';
import { type Judgement, judge } from '../../team/judge/judge.ts';
import { type Listing, listingOf } from '../../team/listing.ts';
import { ID } from '../../team/names.ts';
import { signatureCheck } from '../../team/signing.ts';
import type { Environment } from '../given.ts';
import { makeOwnDirectory, memoryDirectory } from '../state-directory.ts';
import { namesOut } from './oddities.ts';
import { directoryOfMark, type KeyringPlace, keyringAbove } from './place.ts';

/*
 * State of keyrings on this machine, in the user's state directory and never in a repository: the keyring of each
 * clone, the rules that were last used there, the removals seen in their order, the cards that a user here vouches for,
 * the changes without effect that were reported, verified signatures, and the last judgement. Lists only grow by lines
 * that are appended whole, so that simultaneous commands lose nothing of each other.
 */

const FILE_MODE = 0o600;
/** Maximum length of the names of the persons that one removal removes, in characters. */
const MOST_CHARACTERS = 400;
const LINE = /^(seen|first|card|gone|told) ([0-9a-z]{32})(?: ([a-z0-9, -]{0,400}))? \.$/;

const nameOfMark = (mark: string): string => createHash('sha256').update(mark).digest('hex').slice(0, 32);

/** Remembered state of one keyring. */
export interface Remembered {
  /** Removals, in the order in which they count as seen. */
  readonly seen: readonly string[];
  /** Names of the removed persons by removal, for messages. */
  readonly names: ReadonlyMap<string, string>;
  /** Cards that a user of this machine added or confirmed, or whose ID the user received. */
  readonly cards: ReadonlySet<string>;
  /** Changes without effect that were reported to the user of this machine. */
  readonly told: ReadonlySet<string>;
}

export class TeamMemory {
  readonly #directory: string | undefined;

  /**
   * Creates the memory.
   * @param environment environment variables, which may name the state directory; COFFER_STATE=none stores nothing
   * @param directory its directory, if another process passed it
   */
  constructor(environment: Environment, directory = memoryDirectory(environment)) {
    this.#directory = directory;
  }

  get isKept(): boolean {
    return this.#directory !== undefined;
  }

  /** Returns the ID of the keyring that a place had when it was last read. */
  keyringAt(mark: string): string | undefined {
    const [id = ''] = this.#read(this.#cloneFile(mark)).split('\n');
    return ID.test(id) ? id : undefined;
  }

  /** Finds the nearest keyring, also one that is only remembered. */
  placeAbove(directory: string): KeyringPlace | undefined {
    return keyringAbove(directory, (mark) => this.keyringAt(mark) !== undefined);
  }

  /** Returns the directories on this machine that have or had a keyring which is trusted there. */
  placesOf(store: string): readonly string[] {
    if (this.#directory === undefined) return [];
    const folder = join(this.#directory, 'clones');
    const names = attempt(() => readdirSync(folder)) ?? [];
    return names.flatMap((name) => {
      const [id, mark = ''] = this.#read(join('clones', name)).split('\n');
      return id === store && mark !== '' ? [directoryOfMark(mark)] : [];
    });
  }

  setKeyringAt(mark: string, store: string): void {
    this.#replace(this.#cloneFile(mark), `${store}\n${mark}\n`);
  }

  /** Returns the kept judgement of a keyring, as bytes; undefined without one. */
  judged(store: string): Buffer | undefined {
    return this.#bytes(this.#judgedFile(store));
  }

  /** Keeps a judgement. That only saves time: if it fails, the keyring is judged again. */
  setJudged(store: string, judged: Uint8Array): void {
    this.#tryReplace(this.#judgedFile(store), judged);
  }

  /** Returns the rules that a folder had when they were last used; undefined if it had none. */
  rulesAt(mark: string): Buffer | undefined {
    return this.#bytes(this.#rulesFile(mark));
  }

  /** Stores the rules of a folder; undefined removes them. */
  setRulesAt(mark: string, rules: Uint8Array | undefined): void {
    if (rules !== undefined) this.#replace(this.#rulesFile(mark), rules);
    else if (this.#directory !== undefined)
      rmSync(join(this.#directory, this.#rulesFile(mark)), { force: true });
  }

  of(store: string): Remembered {
    let seen: string[] = [];
    const names = new Map<string, string>();
    const cards = new Set<string>();
    const told = new Set<string>();
    // Each "first" line is inserted before the whole list, so consecutive ones are inserted together, in their order.
    let first: string[] = [];
    const settle = (): void => {
      if (first.length > 0) seen = [...first, ...seen.filter((id) => !first.includes(id))];
      first = [];
    };
    for (const line of this.#read(this.#listFile(store)).split('\n')) {
      const [, kind, id = '', text] = LINE.exec(line) ?? [];
      if (kind !== 'first') settle();
      if (kind === 'first') first.push(id);
      else if (kind === 'seen' && !seen.includes(id)) seen.push(id);
      else if (kind === 'gone') seen = seen.filter((other) => other !== id);
      else if (kind === 'card') cards.add(id);
      else if (kind === 'told') told.add(id);
      if (kind !== 'card' && text !== undefined) names.set(id, text);
    }
    settle();
    return { seen, names, cards, told };
  }

  /**
   * Stores removals.
   * @param removals removals in their order
   */
  noteSeen(store: string, removals: readonly Pick<Fact, 'id' | 'without'>[], isFirst = false): void {
    const texts = removals.map((fact) => `${fact.id} ${namesOut(fact).slice(0, MOST_CHARACTERS)}`);
    this.#append(store, isFirst ? 'first' : 'seen', texts);
  }

  /** Forgets removals. */
  forgetSeen(store: string, ids: readonly string[]): void {
    this.#append(store, 'gone', ids);
  }

  noteCards(store: string, ids: readonly string[]): void {
    this.#append(store, 'card', ids);
  }

  noteTold(store: string, facts: readonly Pick<Fact, 'id'>[]): void {
    this.#append(
      store,
      'told',
      facts.map(({ id }) => id),
    );
  }

  verified(store: string): ReadonlySet<string> {
    return new Set(this.#read(this.#verifiedFile(store)).split('\n'));
  }

  /** Stores verified signatures. That only saves time: if it fails, they are verified again. */
  noteVerified(store: string, marks: readonly string[]): void {
    this.#tryReplace(this.#verifiedFile(store), `${marks.join('\n')}\n`);
  }

  #cloneFile = (mark: string): string => join('clones', nameOfMark(mark));
  #rulesFile = (mark: string): string => join('rules', nameOfMark(mark));

  #listFile = (store: string): string => join('keyrings', `${store}.list`);
  #verifiedFile = (store: string): string => join('keyrings', `${store}.verified`);

  #judgedFile = (store: string): string => join('keyrings', `${store}.judged`);

  #read = (name: string): string => this.#bytes(name)?.toString() ?? '';

  #bytes(name: string): Buffer | undefined {
    if (this.#directory === undefined) return undefined;
    try {
      return readFileSync(join(this.#directory, name));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
      throw error;
    }
  }

  #tryReplace(name: string, text: string | Uint8Array): void {
    try {
      this.#replace(name, text);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === undefined && asCofferError(error) === undefined)
        throw error;
    }
  }

  #append(store: string, kind: string, texts: readonly string[]): void {
    if (this.#directory === undefined || texts.length === 0) return;
    const path = join(this.#directory, this.#listFile(store));
    makeOwnDirectory(dirname(path));
    const lines = texts.map((text) => `${kind} ${text} .`);
    // A line cut off by a power failure remains a line without effect, like the empty line, which ends a run of "first"
    // lines.
    writeFileSync(path, `\n${lines.join('\n')}\n`, { mode: FILE_MODE, flag: 'a', flush: true });
  }

  #replace(name: string, text: string | Uint8Array): void {
    if (this.#directory === undefined) return;
    const path = join(this.#directory, name);
    makeOwnDirectory(dirname(path));
    const fresh = `${path}.${process.pid}.new`;
    try {
      writeFileSync(fresh, text, { mode: FILE_MODE });
      move(fresh, path);
    } finally {
      rmSync(fresh, { force: true });
    }
  }
}

/**
 * Returns the keyring that a command finds in the working directory, as far as it is known without asking or
 * remembering anything; undefined without one.
 * @returns its ID, if one is trusted on this machine, and what returns the cards of its members, which throws as
 * `loadFacts` and `judge`
 */
export function keyringInSight(environment: Environment) {
  const memory = new TeamMemory(environment);
  const place = memory.placeAbove('.');
  if (place === undefined) return undefined;
  const id = memory.keyringAt(place.mark);
  return {
    id,
    cards: () => (id === undefined ? [] : cardsOf(memory, place, id)),
  };
}

/** Returns the cards of the members of a keyring, as far as this machine knows who was removed. */
const cardsOf = (memory: TeamMemory, place: KeyringPlace, id: string): readonly CardFact[] =>
  judge(loadFacts(place.directory).facts, id, signatureCheck(memory.verified(id)), memory.of(id).seen).cards;

/** Whether a keyring has a member of that name. One that is not trusted here is taken as it says. */
export function hasMember(memory: TeamMemory, place: KeyringPlace, name: string): boolean {
  const id = memory.keyringAt(place.mark) ?? firstFactIn(place)?.id;
  return id !== undefined && cardsOf(memory, place, id).some(({ card }) => card.name === name);
}

const firstFactIn = ({ directory }: KeyringPlace): Fact | undefined =>
  [...loadFacts(directory).facts.values()].find(({ kind }) => kind === 'store');

/*
 * Judgement of a keyring as it was last read here, for commands that only read: with hundreds of members, reading,
 * parsing and judging every file takes longer than all the rest of a command.
 * @see docs/decisions/0314
 */

/** Format of the cached bytes; part of their stamp, like the version of Coffer. */
const FORMAT = 3;
/** Keyrings below this number of files are judged sooner than they are read from the cache. */
const LEAST_FILES = 24;
/** Time in milliseconds after which two changes of a file certainly have different times, on any file system. */
const RACE_MS = 2000;

/** Facts of a keyring, and what follows from them. */
export interface JudgedFacts {
  readonly loaded: Loaded;
  readonly state: Judgement;
}

/** Stamp that identifies the content of a directory. */
interface Stamp {
  readonly text: string;
  /** Whether another change would certainly change it. */
  readonly isSettled: boolean;
}

/** Whether the last change of a directory is long enough ago that another one would change its listing. */
export const isSettled = ({ newest }: Listing): boolean => systemClock.now() - newest > RACE_MS;

/**
 * Returns what identifies the present content of a keyring's directory and what it is judged by, without reading a
 * file. Undefined for a small keyring, or none.
 * @param seen removals seen on this machine, in their order
 */
export function stampOf(directory: string, seen: readonly string[]): Stamp | undefined {
  const listing = listingOf(directory);
  if (listing === undefined || listing.count < LEAST_FILES) return undefined;
  const hash = createHash('sha256').update(`${FORMAT} ${version} ${directory}\n${seen.join(' ')}\n`);
  return { text: hash.update(listing.text).digest('base64url'), isSettled: isSettled(listing) };
}

/** Returns the judgement with this stamp; undefined if another one, or none, was kept. */
export function keptJudgement(memory: TeamMemory, store: string, { text }: Stamp): JudgedFacts | undefined {
  const bytes = memory.judged(store);
  const head = Buffer.from(`${text}\n`);
  if (bytes === undefined || !bytes.subarray(0, head.length).equals(head)) return undefined;
  const { deserialize } = process.getBuiltinModule('node:v8');
  // It may be cut by a power failure, or written by another Node.
  return attempt(() => deserialize(bytes.subarray(head.length)) as JudgedFacts);
}

/** Keeps a judgement. It holds no secret: all of it is in the repository. */
export function keepJudgement(memory: TeamMemory, { text, isSettled }: Stamp, judged: JudgedFacts): void {
  if (!isSettled) return;
  const { serialize } = process.getBuiltinModule('node:v8');
  memory.setJudged(judged.state.store, Buffer.concat([Buffer.from(`${text}\n`), serialize(judged)]));
}
