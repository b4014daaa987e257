import { lengthPrefixed, utf8, wipe, wiping } from '../ground/bytes.ts';
import { asCofferError } from '../ground/errors.ts';
import { isObject } from '../ground/objects.ts';
import type { Random } from '../ground/random.ts';
import { openOnce, sealOnce } from '../store/single-use-seal.ts';
import { openArmor, SECRET_BYTES } from './armor.ts';
import { type Fact, isCard, KEY_TYPE, type VersionOfKey } from './fact.ts';
import { type Grant, type Judgement, pastOf } from './judge/judge.ts';
import { idOf } from './names.ts';
import { cardsFor, type OwnKey } from './own-key.ts';

/** Root keys of epochs, which decrypt the material of keys. */

const SALT_BYTES = 32;
const MATERIAL = 'coffer/team/1/material';
const OLDER = 'coffer/team/1/older';
/**
 * Maximum number of epochs without effect whose root keys are passed on, so that values that uninformed members
 * encrypted under them still open.
 */
const MOST_VOID_EPOCHS = 256;

/** Computes the check value of a root key, which identifies but does not reveal it. */
export const checkOf = (root: Uint8Array): string => idOf(Buffer.concat([utf8('check'), root]));

interface RootSeal {
  readonly purpose: string;
  readonly associatedData: Uint8Array;
  readonly secret: Uint8Array;
  readonly random: Random;
}

function sealed(root: Uint8Array, { purpose, associatedData, secret, random }: RootSeal): string {
  const salt = random.bytes(SALT_BYTES);
  return sealOnce({ secret: root, salt, purpose, associatedData }, secret, salt).toString('base64');
}

function unsealed(
  root: Uint8Array,
  purpose: string,
  associatedData: Uint8Array,
  text: string,
): Buffer | undefined {
  const bytes = Buffer.from(text, 'base64');
  const salt = bytes.subarray(0, SALT_BYTES);
  return openOnce({ secret: root, salt, purpose, associatedData }, bytes.subarray(SALT_BYTES));
}

type Headed = Omit<VersionOfKey, 'material'>;

const materialData = (store: string, { key, number, type, under }: Headed): Buffer =>
  lengthPrefixed(MATERIAL, store, key, String(number), type, under);

/** Generates the material of a version, sealed under a root key. */
export const sealMaterial = (root: Uint8Array, store: string, head: Headed, random: Random): string =>
  wiping(random.bytes(SECRET_BYTES), (secret) =>
    sealed(root, { purpose: MATERIAL, associatedData: materialData(store, head), secret, random }),
  );

/** Unseals the material of a version; undefined if it is not sealed under this root key. */
export function openMaterial(root: Uint8Array, store: string, version: VersionOfKey): Buffer | undefined {
  if (version.type !== KEY_TYPE) return undefined;
  const material = unsealed(root, MATERIAL, materialData(store, version), version.material);
  return material?.length === SECRET_BYTES ? material : undefined;
}

/** Seals the root keys of earlier epochs under a new one. */
export function sealOlder(
  root: Uint8Array,
  store: string,
  older: ReadonlyMap<string, Uint8Array>,
  random: Random,
): string {
  const roots = [...older].sort(([a], [b]) => (a < b ? -1 : 1));
  const hex = Object.fromEntries(roots.map(([epoch, key]) => [epoch, Buffer.from(key).toString('hex')]));
  return sealed(root, {
    purpose: OLDER,
    associatedData: lengthPrefixed(store),
    secret: utf8(JSON.stringify(hex)),
    random,
  });
}

function openOlder(root: Uint8Array, store: string, text: string): ReadonlyMap<string, Buffer> {
  const bytes = unsealed(root, OLDER, lengthPrefixed(store), text);
  if (bytes === undefined) return new Map();
  try {
    const found: unknown = JSON.parse(bytes.toString());
    const entries = isObject(found) ? Object.entries(found) : [];
    return new Map(
      entries.flatMap(([epoch, hex]) =>
        typeof hex === 'string' && /^[0-9a-f]{64}$/.test(hex)
          ? [[epoch, Buffer.from(hex, 'hex')] as const]
          : [],
      ),
    );
  } catch {
    return new Map();
  } finally {
    wipe(bytes);
  }
}

/** Returns how late a key is tried: after those that prompt less. A plugin may want a touch. */
const patienceFor = ({ plugin, isLocked }: OwnKey): number =>
  plugin !== undefined ? 2 : isLocked?.() === true ? 1 : 0;

/** Root keys that the user can open, with their own keys or with a later root key. */
export class Roots {
  readonly #judgement: Judgement;
  /**
   * The user's keys, each with the IDs of the cards that it may be for. Keys that may prompt are last.
   */
  readonly #own: readonly { readonly key: OwnKey; readonly cards: ReadonlySet<string> }[];
  /** Keys that prompt, and have failed, with their errors. */
  readonly #failures = new Map<OwnKey, unknown>();
  readonly #roots: Map<string, Buffer>;
  readonly #tried = new Set<string>();
  /** Latest call of `open`. The next one waits for it: a root key that is being opened counts as tried, not as known. */
  #last: Promise<unknown> = Promise.resolve();
  readonly #expanded = new Map<string, ReadonlyMap<string, Buffer>>();
  /** Whether all that the user can open was looked into: a root key that is not known then never will be. */
  #isExhausted = false;
  readonly #grants: ReadonlyMap<string, readonly Grant[]>;
  /** Epochs in the order in which they are tried for older root keys: those that hold, and the latest, first. */
  readonly #order: readonly Fact[];

  /**
   * Prepares to open root keys.
   * @param roots root keys of the same keyring that are opened already; opened ones are added
   */
  constructor(judgement: Judgement, own: readonly OwnKey[], roots = new Map<string, Buffer>()) {
    this.#judgement = judgement;
    this.#roots = roots;
    const cards = judgement.line.filter(isCard);
    this.#own = own
      .map((key) => ({ key, cards: new Set(cardsFor(key, cards).map(({ id }) => id)) }))
      .sort((a, b) => patienceFor(a.key) - patienceFor(b.key));
    // A removed member may have written armors that take long to process: try the valid ones first.
    const holds = ({ fact }: Grant): boolean => judgement.valid.has(fact.id);
    const grants = [...judgement.grants.filter(holds), ...judgement.grants.filter((grant) => !holds(grant))];
    this.#grants = Map.groupBy(grants, ({ epoch }) => epoch);
    const latest = judgement.everyEpoch.toReversed();
    const isValid = ({ id }: Fact): boolean => judgement.valid.has(id);
    this.#order = [...latest.filter(isValid), ...latest.filter((fact) => !isValid(fact))];
  }

  /** Adds a root key that was just made. */
  learn(epoch: string, root: Buffer): void {
    this.#take(epoch, root);
  }

  /** Returns every root key opened so far. */
  get known(): ReadonlyMap<string, Buffer> {
    return this.#roots;
  }

  /**
   * Opens the root key of an epoch; undefined if the user cannot.
   * @throws as a key that prompts, if it fails and no other one opens it
   */
  open(epoch: string): Promise<Buffer | undefined> {
    const opened = this.#last.then(() => this.#openAlone(epoch));
    this.#last = opened.catch(() => undefined);
    return opened;
  }

  async #openAlone(epoch: string): Promise<Buffer | undefined> {
    const known = this.#roots.get(epoch);
    if (known !== undefined) return known;
    // Each use of a plugin's key may need a touch: the latest root key opens the earlier ones.
    const isAsking = this.#own.some(({ key }) => key.plugin !== undefined);
    const found = isAsking ? undefined : await this.#direct(epoch);
    const later = found ?? (await this.#throughLater(epoch)) ?? (await this.#direct(epoch));
    if (later === undefined) for (const failure of this.#failures.values()) throw failure;
    return later;
  }

  /** Opens the root key of an epoch with later ones. */
  async #throughLater(epoch: string): Promise<Buffer | undefined> {
    if (this.#isExhausted) return undefined;
    // An epoch whose root key is found in a later one comes again at the end, so that there is one pass.
    const left = [...this.#order];
    for (const fact of left) {
      if (fact.older === undefined || this.#expanded.has(fact.id)) continue;
      if ((await this.#direct(fact.id)) === undefined) continue;
      for (const id of this.#expand(fact).keys()) {
        const earlier = this.#roots.has(id) ? this.#judgement.good.get(id) : undefined;
        if (earlier !== undefined) left.push(earlier);
      }
      const found = this.#roots.get(epoch);
      if (found !== undefined) return found;
    }
    this.#isExhausted = true;
    return undefined;
  }

  /**
   * Opens the root keys that a new one passes on: those of all valid epochs, and of a few others. Removed members may
   * have made thousands of these, more than a fact can hold.
   */
  async openToPassOn(): Promise<ReadonlyMap<string, Buffer>> {
    const isValid = ({ id }: Fact): boolean => this.#judgement.valid.has(id);
    const voids = this.#order.filter((fact) => !isValid(fact)).slice(0, MOST_VOID_EPOCHS);
    const found = new Map<string, Buffer>();
    for (const { id } of [...this.#order.filter(isValid), ...voids]) {
      const root = await this.open(id);
      if (root !== undefined) found.set(id, root);
    }
    return found;
  }

  /**
   * Whether the author of an epoch could open one of the latest epochs before it. An attacker who can only use a
   * member's signing agent could not: nothing may be encrypted under the root key that they chose.
   */
  async isSighted(epoch: string): Promise<boolean> {
    const fact = this.#judgement.good.get(epoch);
    if (fact === undefined || fact.kind === 'store' || (await this.open(epoch)) === undefined) return true;
    const older = this.#expand(fact);
    return this.#newestBefore(epoch).some(({ id, check }) => {
      const root = older.get(id);
      return root !== undefined && checkOf(root) === check;
    });
  }

  /** Returns the epochs that one follows, except those that another of these follows. */
  #newestBefore(epoch: string): readonly Fact[] {
    const { good, line, everyEpoch } = this.#judgement;
    const past = pastOf(good, epoch);
    const followed = new Set<string>();
    for (const { id, after } of line.toReversed()) {
      if (!past.has(id)) continue;
      const isFollowing = followed.has(id) || good.get(id)?.check !== undefined;
      if (isFollowing) for (const before of after) followed.add(before);
    }
    return everyEpoch.filter(({ id }) => past.has(id) && !followed.has(id));
  }

  /** Opens an epoch with the user's keys, or returns the known root key. */
  async #direct(epoch: string): Promise<Buffer | undefined> {
    const known = this.#roots.get(epoch);
    if (known !== undefined || this.#tried.has(epoch)) return known;
    this.#tried.add(epoch);
    for (const { key, cards } of this.#own) {
      for (const { to, fact } of this.#grants.get(epoch) ?? []) {
        const mine = to.findIndex((id) => cards.has(id));
        if (mine < 0 || this.#failures.has(key)) continue;
        // Removed members must not be able to request touches.
        if (key.plugin !== undefined && !this.#judgement.valid.has(fact.id)) continue;
        const root = await this.#opened(fact.armor, key, this.#placeOf(to, mine));
        if (root !== undefined && this.#take(epoch, root)) return root;
      }
    }
    return undefined;
  }

  async #opened(armor: string, key: OwnKey, place: number): Promise<Buffer | undefined> {
    const isPrompting = patienceFor(key) > 0;
    try {
      // A plugin looks for its stanza among all of them at once.
      return await openArmor(armor, await key.identity(), key.plugin === undefined ? place : undefined);
    } catch (error) {
      if (!isPrompting || asCofferError(error) === undefined) throw error;
      this.#failures.set(key, error);
      return undefined;
    }
  }

  /** Returns the position of the first stanza of a card in an armor. */
  #placeOf(to: readonly string[], mine: number): number {
    return to.slice(0, mine).reduce((sum, id) => sum + this.#keysOf(id).length, 0);
  }

  #keysOf(id: string): readonly string[] {
    const fact = this.#judgement.good.get(id);
    return isCard(fact) ? fact.card.keys : [];
  }

  /** Records a root key; one that does not match the epoch's check value is ignored. */
  #take(epoch: string, root: Buffer): boolean {
    if (this.#judgement.good.get(epoch)?.check !== checkOf(root)) return false;
    this.#roots.set(epoch, root);
    return true;
  }

  #expand(fact: Fact): ReadonlyMap<string, Buffer> {
    const known = this.#expanded.get(fact.id);
    const root = this.#roots.get(fact.id);
    if (known !== undefined || root === undefined) return known ?? new Map();
    const older = openOlder(root, this.#judgement.store, fact.older ?? '');
    this.#expanded.set(fact.id, older);
    for (const [epoch, key] of older) if (!this.#roots.has(epoch)) this.#take(epoch, key);
    return older;
  }

  /** Wipes the root keys. */
  close(): void {
    wipe(...this.#roots.values());
    this.#roots.clear();
  }
}
