import { createPublicKey } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { systemRandom } from '../../src/ground/random.ts';
import { sshBlob } from '../../src/signatures/ssh-key.ts';
import { parseSshPrivateKey } from '../../src/signatures/ssh-private-key.ts';
import { openArmor } from '../../src/team/armor.ts';
import { type FactKind, parseFact, printFact, printMessage } from '../../src/team/fact.ts';
import { writeFact } from '../../src/team/files.ts';
import { idOf } from '../../src/team/names.ts';
import { checkOf, sealMaterial, sealOlder } from '../../src/team/roots.ts';
import { signed } from '../../src/team/signing.ts';
import { sshIdentity } from '../../src/transit/envelope/age/ssh.ts';
import { sealer } from '../team/sealer.ts';
import { fact, factsOf, type Person, idOf as tailOf } from './team-people.ts';

/* Facts that no command would make, by somebody with a key of their own who can write into a clone. */

type Fields = readonly (readonly [string, string | number | readonly string[] | undefined])[];

interface Forgery {
  readonly armor?: string;
  /** What it follows; otherwise all heads of the clone. */
  readonly after?: readonly string[];
  /** Whose card it claims to be made by; otherwise the first of the forger's own. */
  readonly by?: string;
  readonly at?: string;
}

export class Forger {
  readonly #at: Person;
  readonly #who: Person;
  #count = 0;

  /**
   * Signs as somebody, in a clone that may be of somebody else.
   * @param who whose key signs
   */
  constructor(who: Person, at: Person = who) {
    this.#who = who;
    this.#at = at;
  }

  get #key() {
    const key = parseSshPrivateKey(readFileSync(join(this.#who.home, '.ssh', 'id_ed25519'), 'utf8'));
    if (key === undefined) throw new Error(`${this.#who.name} has no key`);
    return key;
  }

  get publicKey(): string {
    return this.#who.key.split(' ').slice(0, 2).join(' ');
  }

  /** ID and name of the first card of somebody, as fields name it. */
  card(name: string): string {
    const start = factsOf(this.#at).some((path) => path.startsWith(`members/${name}.`))
      ? `members/${name}.`
      : 'store.';
    return `${tailOf(fact(this.#at, start))} ${name}`;
  }

  get store(): string {
    return tailOf(fact(this.#at, 'store.'));
  }

  get heads(): readonly string[] {
    const all = factsOf(this.#at).map((path) => readFileSync(this.#at.place.file(`.coffer/${path}`), 'utf8'));
    const followed = new Set(all.flatMap((text) => /^after (.*)$/m.exec(text)?.[1]?.split(' ') ?? []));
    return factsOf(this.#at)
      .map(tailOf)
      .filter((id) => !followed.has(id))
      .sort();
  }

  message(kind: FactKind, fields: Fields, { armor = '', after = this.heads, by, at }: Forgery = {}): string {
    const second = String(this.#count++ % 60).padStart(2, '0');
    const common: Fields = [
      ['store', this.store],
      ['after', after.toSorted().join(' ')],
      ['epoch', this.store],
      ['by', by ?? this.card(this.#who.name)],
      ['at', at ?? `2026-01-01T00:00:${second}Z`],
    ];
    return printMessage(kind, [...common, ...fields], armor);
  }

  /** Writes a fact, signed. @returns its ID */
  put(kind: FactKind, fields: Fields, forgery: Forgery = {}): string {
    const message = this.message(kind, fields, forgery);
    return writeFact(this.#at.place.file('.coffer'), message, signed(message, this.#key)).id;
  }

  /** Writes a fact of a kind that only a newer Coffer knows. @param isSigned otherwise its signature is another's */
  newer(isSigned = true, forgery: Forgery = {}): string {
    const message = this.message('slot', [], forgery).replace('1 slot', '1 retire');
    const text = printFact(message, signed(isSigned ? message : 'another', this.#key));
    const id = idOf(message);
    const path = this.#at.place.file(`.coffer/retired/x.${id}`);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
    return id;
  }

  /** The root key of an epoch that the forger's key opens. @param start of its path */
  async root(start = 'store.'): Promise<Buffer> {
    const path = fact(this.#at, start);
    const { armor } = parseFact(readFileSync(path), path.slice(this.#at.place.file('.coffer/').length));
    const root = await openArmor(armor, sshIdentity(this.#key, sshBlob(createPublicKey(this.#key))));
    if (root === undefined) throw new Error('the forger does not open it');
    return root;
  }

  /** Fields of a card for somebody with a key. */
  async member(name: string, key: string, root: Buffer, epoch = this.store): Promise<[Fields, string]> {
    const own = key.split(' ').slice(0, 2).join(' ');
    const fields: Fields = [
      ['name', name],
      ['role', 'admin'],
      ['key', own],
      ['sign', own],
      ['root', epoch],
    ];
    return [fields, await sealer.armorFor([own], root)];
  }

  version(key: string, number: number, root: Buffer, under = this.store): Fields {
    const head = { key, number, type: 'aes256-gcm96', under };
    return [
      ['key', key],
      ['version', number],
      ['type', head.type],
      ['under', under],
      ['material', sealMaterial(root, this.store, head, systemRandom)],
    ];
  }

  /** Fields of a removal, its armor for the given keys, and its root key. */
  async removal(
    out: readonly string[],
    given: readonly string[],
    keys: readonly string[],
    older: ReadonlyMap<string, Uint8Array> = new Map(),
  ): Promise<[Fields, string, Buffer]> {
    const root = systemRandom.bytes(32);
    const fields: Fields = [
      ['without', out],
      ['for', given],
      ['check', checkOf(root)],
      ['older', sealOlder(root, this.store, older, systemRandom)],
    ];
    const own = keys.map((key) => key.split(' ').slice(0, 2).join(' '));
    return [fields, await sealer.armorFor(own, root), root];
  }
}
