import { isUtf8 } from 'node:buffer';
import { existsSync } from 'node:fs';
import type { KeyringConnection } from '../../client/keyring-agent.ts';
import { wipe } from '../../ground/bytes.ts';
import { CofferError, conflict, denied, inauthentic, notFound, unsupported } from '../../ground/errors.ts';
import { madeOnce } from '../../ground/objects.ts';
import { DEFAULT_MOUNT } from '../../mounts/paths.ts';
import { isCut, type SealedValue } from '../../secret-files/value.ts';
import { directoryOf } from '../../store/backends/registry.ts';
import type { VersionFact } from '../../team/fact.ts';
import { type Loaded, loadFacts } from '../../team/files.ts';
import {
  bestVersion,
  givenTo,
  hasLeft,
  type JudgedVersion,
  keyNames,
  nameOf,
} from '../../team/judge/judge.ts';
import { keyringAgentDirectory } from '../secrets/agent-directory.ts';
import { pipelineHint } from '../secrets/identity-places.ts';
import type { Session } from '../session.ts';
import { shellWord } from '../terminal/shell-word.ts';
import { type FoundValue, type OpenValue, TRUNCATED, type ValueResult } from './found-values.ts';
import { openKeyring, type TeamKeyring } from './keyring.ts';
import { TeamMemory } from './memory.ts';
import { removedHint } from './own-keys.ts';
import type { KeyringPlace } from './place.ts';
import { keptValueKeys, openedValueKeys, type ValueKeys } from './value-keys.ts';
import { factsElsewhere } from './witness.ts';

/**
 * Decision about values that departed members may have written, when they are re-encrypted with a newer key version: a
 * set has the IDs of the versions whose values are accepted, as they were trusted until a removal.
 */
export type Adoption = 'ask' | 'none' | ReadonlySet<string>;

/**
 * Key versions that open values: those that only present members have; `any`, for values about to be replaced; or those
 * of every commit, for git, which merges files before the facts of the other side are in the working tree.
 */
export type CountedVersions = 'believed' | 'any' | 'of-all-commits';

/** Keys of a keyring, for the values of files below it. */
export class TeamKeys {
  readonly #session: Session;
  readonly place: KeyringPlace;
  readonly #opened = new Map<'read' | 'change' | 'merge', Promise<TeamKeyring>>();
  readonly #valueKeys = new Map<TeamKeyring, Promise<ValueKeys>>();
  #agent: Promise<KeyringConnection | undefined> | undefined;
  #isOffered = false;
  #isStoreNamed = false;

  private constructor(session: Session, place: KeyringPlace) {
    this.#session = session;
    this.place = place;
  }

  /** Returns the keys of the nearest keyring above a directory, if there is one. */
  static above(session: Session, directory: string): TeamKeys | undefined {
    const place = new TeamMemory(session.environment).placeAbove(directory);
    return place && new TeamKeys(session, place);
  }

  /** Returns the names of the keys. */
  async names(): Promise<readonly string[]> {
    return keyNames((await this.#keyring('read')).state);
  }

  /**
   * Encrypts values.
   * @throws `not-found` or `conflict` if there is no key to encrypt with; as `openKeyring`
   */
  async seal(key: string, values: readonly OpenValue[]): Promise<readonly SealedValue[]> {
    const keyring = await this.#keyring('change');
    const version = requireBest(keyring, key);
    const payloads = await (await this.#keysOf(keyring)).seal(version, values);
    await this.#offerKeeping(keyring);
    return payloads.map((payload) => sealed(version, payload));
  }

  /**
   * Decrypts values.
   * @param which accepted key versions
   */
  async open(
    values: readonly FoundValue[],
    which: CountedVersions = 'believed',
  ): Promise<readonly ValueResult<string>[]> {
    // What was opened to change the keyring is not judged a second time to read with it.
    const isOpen = which === 'any' && this.#opened.has('change');
    const keyring = await this.#keyring(which === 'of-all-commits' ? 'merge' : isOpen ? 'change' : 'read');
    await this.#prepare(keyring, values);
    const texts = await each(values, async (value) => {
      const { text, version } = await this.#open(keyring, value);
      if (!version.isBelieved && which === 'believed') throw notBelieved(keyring, version, value);
      return text;
    });
    if (which !== 'of-all-commits') await this.#offerKeeping(keyring);
    return texts;
  }

  /** Re-encrypts values. One with the newest version is returned unchanged. */
  async rewrap(
    values: readonly FoundValue[],
    adoption: Adoption = 'ask',
  ): Promise<readonly ValueResult<SealedValue>[]> {
    const keyring = await this.#keyring('change');
    await this.#prepare(keyring, values);
    return each(values, async (value) => {
      const { text, version } = await this.#open(keyring, value);
      const best = requireBest(keyring, value.value.key);
      if (version.fact.id === best.id) return value.value;
      if (!version.isBelieved && !(await this.#isAdopted(keyring, version, value, adoption))) {
        throw notBelieved(keyring, version, value);
      }
      const [payload = ''] = await (await this.#keysOf(keyring)).seal(best, [
        { name: value.name, source: text },
      ]);
      // A removal lists these values itself.
      if (!version.isBelieved && adoption === 'ask')
        this.#session.say(
          `${value.where}: ${value.name} was encrypted again, but a removed member may know or have written the value: replace it with a new one.`,
        );
      return sealed(best, payload);
    });
  }

  /**
   * Warns of values that are encrypted with keys which no fact of the keyring names. Nothing is opened for it.
   * @param key that other values of the file were encrypted with now, so that no store decrypts the whole file
   */
  warnOfOtherKeys(path: string, values: readonly FoundValue[], key: string | undefined): void {
    const { facts } = loadFacts(this.place.directory);
    const keys = new Set([...facts.values()].map(({ version }) => version?.key));
    const others = values.filter(({ value }) => value.mount === DEFAULT_MOUNT && !keys.has(value.key));
    const [first] = others;
    if (first === undefined) return;
    const { name } = first;
    const names = others.map(({ name }) => name).join(', ');
    const again = `to set it again, run "coffer secrets set ${shellWord(path)} ${shellWord(name)} --key ${key}"`;
    const own = key === undefined ? this.#ownStoreHint(first) : again;
    this.#session.warn(
      `${path}: other members cannot decrypt ${names}: encrypted with a key that the keyring does not have${own === '' ? '' : ` (${own})`}`,
    );
  }

  async #isAdopted(
    keyring: TeamKeyring,
    version: JudgedVersion,
    value: FoundValue,
    adoption: Adoption,
  ): Promise<boolean> {
    if (adoption !== 'ask') return adoption !== 'none' && adoption.has(version.fact.id);
    const { settings, prompts } = this.#session;
    if (settings.yes) return true;
    if (!prompts.available()) return false;
    return prompts.confirm(
      `${value.where}: ${value.name} is encrypted with a key version that ${whoHad(keyring, version)}. Accept the value?`,
    );
  }

  #keyring(how: 'read' | 'change' | 'merge'): Promise<TeamKeyring> {
    return madeOnce(this.#opened, how, () =>
      openKeyring(this.#session, {
        place: this.place,
        isChange: how === 'change',
        // Warnings are printed once per command.
        reported: this.#opened.size > 0 || how === 'merge' ? 'errors' : 'news',
        loaded: how === 'merge' ? this.#ofAllCommits() : undefined,
      }),
    );
  }

  #ofAllCommits(): Loaded {
    const memory = new TeamMemory(this.#session.environment);
    const store = memory.keyringAt(this.place.mark);
    const verified = store === undefined ? new Set<string>() : memory.verified(store);
    const more = [...factsElsewhere(this.place, verified)].map(([{ path }, bytes]) => [path, bytes] as const);
    return loadFacts(this.place.directory, more);
  }

  async #prepare(keyring: TeamKeyring, values: readonly FoundValue[]): Promise<void> {
    if (values.length < 2) return;
    const keys = await this.#keysOf(keyring);
    const all = values.map((value) => ({ value, versions: versionsOf(keyring, value) }));
    await keys.prepare?.(all.filter(({ versions }) => versions.length > 0));
  }

  async #open(keyring: TeamKeyring, found: FoundValue) {
    const { key, version: number } = found.value;
    const versions = versionsOf(keyring, found);
    if (versions.length === 0) throw noSuchVersion(keyring, { key, number }, this.#ownStoreHint(found));
    const keys = await this.#keysOf(keyring);
    const { opened, isKnown } = await keys.open(versions, found);
    const [only, other] = opened;
    if (other !== undefined)
      throw inauthentic(
        `key "${key}" exists twice as version ${number}, and each decrypts this to a different value: one was forged`,
        { hint: againHint(found) },
      );
    if (only !== undefined) {
      if (!isUtf8(only.bytes)) throw unsupported('the decrypted value is not text (UTF-8)');
      const text = only.bytes.toString();
      wipe(only.bytes);
      return { text, version: only.version };
    }
    if (!isKnown) {
      const isIn = keyring.card !== undefined;
      throw denied(`none of your keys opens version ${number} of key "${key}"`, {
        hint: isIn
          ? 'an admin must run "coffer team settle"'
          : (removedHint(keyring.state, keyring.identities.keys) ??
            (keyring.identities.keys.length === 0 ? pipelineHint(this.#session.environment) : undefined) ??
            'ask an admin to run "coffer team add NAME KEY" with your key'),
      });
    }
    if (isCut(found.value)) throw inauthentic('cannot decrypt', { hint: TRUNCATED });
    const own = this.#ownStoreHint(found);
    throw inauthentic('cannot decrypt', {
      hint: `the value was modified, moved from another name, or encrypted with a key "${key}" of another keyring or store${own === '' ? '' : `; ${own}`}`,
    });
  }

  /** Returns the commands for values that were encrypted before there was a keyring, once for a command. */
  #ownStoreHint({ path }: FoundValue): string {
    const hint = this.#isStoreNamed ? '' : ownStoreHint(this.#session, path);
    this.#isStoreNamed ||= hint !== '';
    return hint;
  }

  /** Returns what uses the root keys: an agent that has them, or this command. */
  #keysOf(keyring: TeamKeyring): Promise<ValueKeys> {
    return madeOnce(this.#valueKeys, keyring, async (): Promise<ValueKeys> => {
      const session = this.#session;
      const opened = openedValueKeys(keyring, (work) => session.atEnd(work));
      this.#agent ??= this.#findAgent(keyring);
      const agent = await this.#agent;
      if (agent === undefined) return opened;
      session.atEnd(() => agent.close());
      return keptValueKeys(agent, opened);
    });
  }

  /** Finds the agent of a keyring. The code for it is loaded only if there may be one. */
  async #findAgent(keyring: TeamKeyring): Promise<KeyringConnection | undefined> {
    const directory = keyringAgentDirectory(this.#session.environment, keyring.state.store);
    if (directory?.isInUse !== true) return undefined;
    const { findKeyringAgent } = await import('./keeping.ts');
    return findKeyringAgent(this.#session, keyring, directory);
  }

  async #offerKeeping(keyring: TeamKeyring): Promise<void> {
    if (this.#isOffered || !keyring.identities.wasAsked()) return;
    this.#isOffered = true;
    const { offerKeeping } = await import('./keeping.ts');
    await offerKeeping(this.#session, keyring, (await this.#agent) !== undefined);
  }
}

/** Returns the commands for values that the own store encrypted before there was a keyring; empty without a store. */
export function ownStoreHint({ settings }: Session, path: string | undefined): string {
  const store = directoryOf(settings.storeLocation);
  if (store === undefined || !existsSync(store)) return '';
  const file = path === undefined ? 'FILE' : shellWord(path);
  return `if your store encrypted the value before "coffer team init", run "coffer secrets decrypt ${file} --store ${shellWord(store)}", then "coffer secrets encrypt ${file}"`;
}

/** Returns what to do about a value that may be either of two. */
function againHint({ path = 'FILE', name }: FoundValue): string {
  const set = `"coffer secrets set ${shellWord(path)} ${shellWord(name)}"`;
  return `run "coffer team log" to see the authors of the versions; then set the value again with ${set}`;
}

/** Returns the versions of the number that a value names, in the order in which they are tried. */
export const versionsOf = ({ state }: TeamKeyring, { value }: FoundValue): readonly JudgedVersion[] =>
  (state.versions.get(value.key) ?? []).filter(({ fact }) => fact.version.number === value.version);

const sealed = ({ version }: VersionFact, payload: string): SealedValue => ({
  mount: DEFAULT_MOUNT,
  key: version.key,
  version: version.number,
  payload,
});

async function each<T>(
  values: readonly FoundValue[],
  work: (value: FoundValue) => Promise<T>,
): Promise<readonly ValueResult<T>[]> {
  const results: ValueResult<T>[] = [];
  for (const value of values) {
    try {
      results.push(await work(value));
    } catch (error) {
      if (!(error instanceof CofferError)) throw error;
      results.push(
        new CofferError(error.kind, `${value.where}: ${value.name}: ${error.message}`, { hint: error.hint }),
      );
    }
  }
  return results;
}

function requireBest({ state }: TeamKeyring, key: string): VersionFact {
  const best = bestVersion(state, key);
  if (best !== undefined) return best;
  if (keyNames(state).includes(key)) {
    throw conflict(
      `removed members know every version of key "${key}", so nothing new is encrypted with it`,
      {
        hint: 'an admin must run "coffer team settle"',
      },
    );
  }
  throw noKey(state, key);
}

function noKey(state: TeamKeyring['state'], key: string): CofferError {
  const names = keyNames(state);
  return notFound(`no key "${key}" in the keyring of this repository`, {
    hint:
      names.length === 0
        ? undefined
        : `the keyring has ${names.join(', ')}; an admin can add ${key} with "coffer team key add ${key}"`,
  });
}

function noSuchVersion(
  { state }: TeamKeyring,
  { key, number }: { readonly key: string; readonly number: number },
  own: string,
): CofferError {
  const first = own === '' ? '' : `${own}; otherwise, `;
  if (!keyNames(state).includes(key)) {
    return notFound(noKey(state, key).message, {
      hint: `${first}the key is of another keyring or of a store: if the file was moved here, decrypt it where it was, with "coffer secrets decrypt FILE", then encrypt it here`,
    });
  }
  return notFound(`the keyring of this repository has no version ${number} of key "${key}"`, {
    hint: `${first}the author of the file may have left out new files of .coffer: ask for "git add .coffer" and a commit; if not, the version is on a branch that is not merged, or of another keyring or a store`,
  });
}

/** Formats who may have written with a version that is not trusted. */
function whoHad({ state }: TeamKeyring, { fact }: JudgedVersion): string {
  const ids = new Set([...givenTo(state, fact.version.under), fact.by].filter((id) => hasLeft(state, id)));
  const names = [...new Set([...ids].map((id) => nameOf(state, id)))].sort();
  return names.length > 0
    ? `is known to removed members (${names.join(', ')})`
    : 'was created before its author knew of a removal, so removed members may know it';
}

/** Returns the error about a value that a removed member may have written. */
export const notBelieved = (
  keyring: TeamKeyring,
  version: JudgedVersion,
  { path, value }: FoundValue,
): CofferError =>
  denied(
    `version ${value.version} of key "${value.key}" ${whoHad(keyring, version)}: the value may not be from the team`,
    {
      hint: `set the value again, or, if it is right, run "coffer secrets rewrap ${path === undefined ? 'FILE' : shellWord(path)}" on a terminal, which asks about each such value of the file; with --yes, it accepts all of them`,
    },
  );
