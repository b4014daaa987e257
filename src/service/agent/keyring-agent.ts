import { isUtf8 } from 'node:buffer';
import { lstatSync } from 'node:fs';
import { createServer } from 'node:net';
import { wipe } from '../../ground/bytes.ts';
import { asCofferError, conflict, sealed } from '../../ground/errors.ts';
import { systemRandom } from '../../ground/random.ts';
import { FileLock } from '../../store/backends/files/file-lock.ts';
import { openWithAny, sealValue } from '../../team/cipher.ts';
import type { VersionOfKey } from '../../team/fact.ts';
import { openMaterial } from '../../team/roots.ts';
import { listening } from '../listening.ts';
import { offer, Rpc } from '../rpc.ts';
import { makeWay } from '../socket-file.ts';
import { type AgentStatus, portOver } from './calls.ts';
import type { AgentDirectory } from './directory.ts';
import {
  type HandedKeyring,
  type JudgedForAgent,
  KEYRING_CALLS,
  type KeyringCalls,
  type KeyringJudge,
  type KeyringReading,
  type RulesInUse,
  type SentOpening,
  type ValuesToSeal,
  type ValueToOpen,
  type ValueToRead,
} from './keyring-calls.ts';
import { Lifetime } from './lifetime.ts';
import { Watchdog } from './watchdog.ts';

/** Maximum number of versions whose material is kept: more than commands use. */
const MOST_MATERIALS = 1000;

interface KeyringAgentOptions {
  readonly handed: HandedKeyring;
  readonly judge: KeyringJudge;
  /** Whether its socket still exists. */
  readonly isReachable: () => boolean;
}

/**
 * Agent of a keyring: keeps the root keys that a member has opened, for a while, and decrypts and encrypts values with
 * them for that member's programs. It locks once, permanently, and the process exits.
 * @see docs/decisions/0307
 */
export class KeyringAgent implements KeyringCalls {
  readonly #handed: HandedKeyring;
  readonly #judge: KeyringJudge;
  readonly #isReachable: () => boolean;
  readonly #locked = Promise.withResolvers<void>();
  readonly #lifetime: Lifetime;
  readonly #watchdog = new Watchdog();
  /** Material of versions that were used. */
  readonly #materials = new Map<string, Buffer>();
  #tick: NodeJS.Timeout | undefined;
  #uses = 0;
  #isOver = false;

  constructor({ handed, judge, isReachable }: KeyringAgentOptions) {
    this.#handed = handed;
    this.#judge = judge;
    this.#isReachable = isReachable;
    this.#lifetime = new Lifetime(handed);
    this.#wait();
  }

  /** Resolves once it has locked. */
  get locked(): Promise<void> {
    return this.#locked.promise;
  }

  async open(values: readonly ValueToOpen[]): Promise<readonly SentOpening[]> {
    this.#use();
    return Promise.all(values.map((value) => this.#opened(value)));
  }

  async #opened({ versions, name, payload }: ValueToOpen): Promise<SentOpening> {
    const { known, opened } = await openWithAny(versions, async (version) => this.#materialOf(version), {
      name,
      payload,
    });
    return {
      known,
      opened: opened.map(({ version, bytes }) => ({
        at: versions.indexOf(version),
        bytes: bytes.toString('base64'),
      })),
    };
  }

  async read(reading: KeyringReading): Promise<readonly string[] | null> {
    const versionsFor = this.#judge.versionsFor(reading);
    if (versionsFor === undefined) return null;
    // Counted only now: a request without an answer does not keep the keyring unlocked.
    this.#use();
    const texts: string[] = [];
    for (const value of reading.values) {
      const text = await this.#read(versionsFor(value.key, value.version), value);
      if (text === undefined) return null;
      texts.push(text);
    }
    return texts;
  }

  /** Decrypts a value; undefined unless exactly one version opens it, and only members have that one. */
  async #read(versions: readonly JudgedForAgent[], value: ValueToRead): Promise<string | undefined> {
    const { known, opened } = await openWithAny(
      versions,
      async ({ version }) => this.#materialOf(version),
      value,
    );
    const [only, ...others] = opened;
    const isLacking = versions.some(({ isValid }, at) => isValid && !known.includes(at));
    const isPlain = only?.version.isBelieved === true && others.length === 0 && !isLacking;
    const text = isPlain && isUtf8(only.bytes) ? only.bytes.toString() : undefined;
    wipe(...opened.map(({ bytes }) => bytes));
    return text;
  }

  async areLastRules(rules: RulesInUse): Promise<boolean> {
    return !this.#isOver && this.#judge.areLastRules(rules);
  }

  async seal({ version, values }: ValuesToSeal): Promise<readonly string[] | null> {
    this.#use();
    const material = this.#handed.usable.includes(version.under) ? this.#materialOf(version) : undefined;
    if (material === undefined) return null;
    return values.map(({ name, source }) => sealValue(material, name, source, systemRandom));
  }

  async cards(): Promise<readonly string[]> {
    return this.#handed.cards;
  }

  async status(): Promise<AgentStatus> {
    return { locked: this.#isOver, ...this.#lifetime.status, uses: this.#uses, pid: process.pid };
  }

  async lock(): Promise<void> {
    if (this.#isOver) return;
    this.#isOver = true;
    clearTimeout(this.#tick);
    this.#forgetMaterials();
    wipe(...this.#handed.roots.values());
    // The keys were in memory until here, so keep the watchdog running until now.
    this.#watchdog.stop();
    this.#locked.resolve();
  }

  #materialOf(version: VersionOfKey): Buffer | undefined {
    const { key, number, type, under, material: sealedMaterial } = version;
    const mark = [key, number, type, under, sealedMaterial].join(' ');
    const known = this.#materials.get(mark);
    const root = this.#handed.roots.get(under);
    if (known !== undefined || root === undefined) return known;
    const material = openMaterial(root, this.#handed.store, version);
    if (material === undefined) return undefined;
    if (this.#materials.size === MOST_MATERIALS) this.#forgetMaterials();
    this.#materials.set(mark, material);
    return material;
  }

  #forgetMaterials(): void {
    wipe(...this.#materials.values());
    this.#materials.clear();
  }

  #use(): void {
    if (this.#lifetime.leftMs <= 0) void this.lock();
    if (this.#isOver) throw sealed('the keyring has just been locked', { hint: 'run the command again' });
    this.#uses += 1;
    this.#lifetime.use();
  }

  #wait(): void {
    this.#watchdog.watch(this.#lifetime.ends, () => undefined);
    this.#tick = setTimeout(() => {
      if (this.#lifetime.leftMs <= 0 || !this.#isReachable()) void this.lock();
      else this.#wait();
    }, this.#lifetime.nextCheckMs);
  }
}

/** An agent that was just told to exit still holds the lock for a moment; in milliseconds. */
const LOCK_WAIT_MS = 5000;
/** Maximum number of connections, more than one user's programs have. */
const MOST_CONNECTIONS = 512;

/** Keyring that an agent keeps open, and what judges it for commands. */
interface KeptKeyring {
  readonly handed: HandedKeyring;
  readonly judge: KeyringJudge;
}

/**
 * Runs the agent of a keyring until it has locked.
 * @param ready called once it is listening
 * @throws `conflict` if the keyring already has an agent; `unavailable` if other users can access the directory, or the
 * socket cannot be created
 */
export async function runKeyringAgent(
  directory: AgentDirectory,
  kept: KeptKeyring,
  ready: (agent: KeyringAgent) => void,
): Promise<void> {
  directory.make();
  let isMine = false;
  try {
    await FileLock.holdOnce(directory.lock, LOCK_WAIT_MS, async () => {
      isMine = true;
      await serve(directory, kept, ready);
    });
  } catch (error) {
    if (isMine || asCofferError(error)?.kind !== 'unavailable') throw error;
    throw conflict('an agent of this keyring is already running');
  }
}

async function serve(
  { socket: path }: AgentDirectory,
  { handed, judge }: KeptKeyring,
  ready: (agent: KeyringAgent) => void,
): Promise<void> {
  await makeWay(path);
  let inode: number | undefined;
  const inodeNow = (): number | undefined => lstatSync(path, { throwIfNoEntry: false })?.ino;
  const agent = new KeyringAgent({
    handed,
    judge,
    isReachable: () => inode === undefined || inodeNow() === inode,
  });
  const server = createServer((socket) => {
    socket.on('error', () => undefined);
    const rpc = new Rpc(portOver(socket), offer<KeyringCalls>(agent, KEYRING_CALLS));
    // Connections end with the process, which tells "lock" that nothing is left of it.
    socket.once('close', () => rpc.close());
  });
  server.maxConnections = MOST_CONNECTIONS;
  try {
    await listening(server, { socket: path });
    inode = inodeNow();
    ready(agent);
    await agent.locked;
  } finally {
    await agent.lock();
    server.close();
  }
}
