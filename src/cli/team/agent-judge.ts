import { asCofferError } from '../../ground/errors.ts';
import { version } from '../../ground/version.ts';
import type {
  Asking,
  HandedKeyring,
  JudgedForAgent,
  KeyringJudge,
  KeyringReading,
  RulesInUse,
} from '../../service/agent/keyring-calls.ts';
import { takesOut } from '../../team/fact.ts';
import { loadFacts } from '../../team/files.ts';
import { type Judgement, judge } from '../../team/judge/judge.ts';
import { listingOf } from '../../team/listing.ts';
import { signatureCheck } from '../../team/signing.ts';
import { fileOf } from '../state-directory.ts';
import { isSettled, TeamMemory } from './memory.ts';
import type { KeyringPlace } from './place.ts';

/** Compares rules with those that a memory has as used last for files of a directory. */
type CompareRules = (
  memory: TeamMemory,
  directory: string,
  now: { readonly directory: string; readonly bytes: Buffer } | undefined,
) => boolean;

/**
 * Judges a keyring in its agent, for commands that read values. It reads the files, this machine's memory and the place
 * of the keyring anew for each of them, and answers only if the command sees the same ones and would have nothing to
 * tell its user: whatever is unusual, the command judges by itself.
 * @see docs/decisions/0315
 */
export class AgentJudge implements KeyringJudge {
  readonly #handed: Pick<HandedKeyring, 'store' | 'cards' | 'identities'>;
  readonly #areLastRules: CompareRules;
  /** Last judgement, and what it was judged from, by directory of a keyring: clones are few. */
  readonly #judged = new Map<string, { readonly from: string; readonly state: Judgement }>();

  constructor(handed: Pick<HandedKeyring, 'store' | 'cards' | 'identities'>, areLastRules: CompareRules) {
    this.#handed = handed;
    this.#areLastRules = areLastRules;
  }

  versionsFor(
    reading: KeyringReading,
  ): ((key: string, number: number) => readonly JudgedForAgent[]) | undefined {
    if (!this.#isKnown(reading)) return undefined;
    const { store, cards } = this.#handed;
    const memory = memoryOf(reading);
    const place = memory.placeAbove(reading.directory.path);
    if (place?.directory !== reading.keyring.path || memory.keyringAt(place.mark) !== store) return undefined;
    const { seen } = memory.of(store);
    const state = this.#stateOf(place, reading.keyring.listing, { memory, seen });
    if (state === undefined || !isPlain(state, seen)) return undefined;
    if (!state.cards.some(({ id }) => cards.includes(id))) return undefined;
    return (key, number) =>
      (state.versions.get(key) ?? [])
        .filter(({ fact }) => fact.version.number === number)
        .map(({ fact, isValid, isBelieved }) => ({ version: fact.version, isValid, isBelieved }));
  }

  areLastRules(asked: RulesInUse): boolean {
    const { directory, rules } = asked;
    if (!this.#isKnown(asked)) return false;
    const now = rules === null ? undefined : { ...rules, bytes: Buffer.from(rules.bytes, 'base64') };
    return this.#areLastRules(memoryOf(asked), directory.path, now);
  }

  /** Whether a command has the same code and keys as this agent, and its paths lead to the same directories here. */
  #isKnown({ version: theirs, identities, memory, directory }: Asking): boolean {
    const isOwn = theirs === version && identities === this.#handed.identities;
    return isOwn && [memory, directory].every(({ path, file }) => file === fileOf(path));
  }

  /** Judges the files of a keyring; undefined if they are not those that the command sees. */
  #stateOf(
    { directory }: KeyringPlace,
    listed: string,
    { memory, seen }: { readonly memory: TeamMemory; readonly seen: readonly string[] },
  ): Judgement | undefined {
    const listing = listingOf(directory);
    if (listing?.text !== listed) return undefined;
    const from = `${seen.join(' ')}\n${listing.text}`;
    const known = this.#judged.get(directory);
    if (known?.from === from) return known.state;
    const { store } = this.#handed;
    const facts = factsIn(directory);
    // A file that was changed during the reading would be judged although it is not in the list.
    if (facts?.get(store)?.kind !== 'store' || listingOf(directory)?.text !== listed) return undefined;
    const state = judge(facts, store, signatureCheck(memory.verified(store)), seen);
    if (isSettled(listing)) this.#judged.set(directory, { from, state });
    else this.#judged.delete(directory);
    return state;
  }
}

const memoryOf = ({ memory }: Asking): TeamMemory => new TeamMemory({}, memory.path);

/** Reads all facts; undefined if they cannot be read, also because files are changed meanwhile. */
function factsIn(directory: string): ReturnType<typeof loadFacts>['facts'] | undefined {
  try {
    return loadFacts(directory).facts;
  } catch (error) {
    const isOfFiles = (error as NodeJS.ErrnoException).code !== undefined;
    if (asCofferError(error) === undefined && !isOfFiles) throw error;
    return undefined;
  }
}

/** Whether a reading command would have no message, no refusal and nothing to remember for this state. */
const isPlain = (
  { refused, undone, caught, quarrels, holes, unseen, line, valid }: Judgement,
  seen: readonly string[],
): boolean =>
  refused.size + undone.length + caught.length + quarrels.length + holes.length + unseen.length === 0 &&
  !line.some((fact) => takesOut(fact) && valid.has(fact.id) && !seen.includes(fact.id));
