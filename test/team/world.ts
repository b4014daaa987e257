import { createHash } from 'node:crypto';
import { string } from '../../src/signatures/ssh-wire.ts';
import {
  type CardReference,
  type Fact,
  type FactKind,
  parseFact,
  pathOf,
  printFact,
  printMessage,
} from '../../src/team/fact.ts';
import { printBech32 } from '../../src/transit/key-types/age/bech32.ts';

/* Facts for tests of judging, without keys: who signed what is taken for granted. */

const ARMOR = '-----BEGIN AGE ENCRYPTED FILE-----\nAAAA\n-----END AGE ENCRYPTED FILE-----\n';
const ID = '0'.repeat(32);

/** Bytes that stand for a public key. */
const bytesOf = (name: string): Buffer => {
  const bytes = createHash('sha256').update(name).digest();
  bytes[31] = (bytes[31] ?? 0) & 0x3f;
  return bytes;
};
export const ageKey = (name: string): string => printBech32('age', bytesOf(name));
export const sshKey = (name: string): string =>
  `ssh-ed25519 ${Buffer.concat([string('ssh-ed25519'), string(bytesOf(name))]).toString('base64')}`;

/** A fact that says what the message says, wherever it belongs. */
export const factOf = (message: string, signature = 'AAAA'): Fact =>
  parseFact(Buffer.from(printFact(message, signature)), pathOf(message));

export const referenceOf = ({ id, card }: Fact): CardReference => ({ id, name: card?.name ?? '' });

/** A keyring that grows; everything that is made follows what it is told to. */
export class World {
  readonly facts = new Map<string, Fact>();
  readonly first: Fact;
  /** When the next fact is made, in seconds of its year. */
  seconds: number | undefined;
  #count = 0;

  constructor(founder = 'alice') {
    this.first = this.put(
      printMessage(
        'store',
        [
          ['at', this.#time()],
          ['name', founder],
          ['key', sshKey(founder)],
          ['sign', sshKey(founder)],
          ['check', ID],
        ],
        ARMOR,
      ),
    );
  }

  /** Facts that no other follows. */
  get heads(): readonly Fact[] {
    const followed = new Set([...this.facts.values()].flatMap(({ after }) => after));
    return [...this.facts.values()].filter(({ id }) => !followed.has(id));
  }

  put(message: string): Fact {
    const fact = factOf(message);
    this.facts.set(fact.id, fact);
    return fact;
  }

  member(
    by: Fact,
    name: string,
    options: {
      after?: readonly Fact[];
      root?: Fact | string;
      admin?: boolean;
      key?: string | undefined;
    } = {},
  ): Fact {
    const key = options.key ?? sshKey(`${name} ${this.#count}`);
    return this.#fact('member', by, options.after, [
      ['name', name],
      ['role', options.admin === false ? 'user' : 'admin'],
      ['key', key],
      ['sign', options.admin === false ? undefined : key],
      ['root', idOf(options.root ?? this.first)],
    ]);
  }

  remove(
    by: Fact,
    out: readonly Fact[],
    given: readonly Fact[],
    options: { after?: readonly Fact[]; names?: readonly string[] } = {},
  ): Fact {
    const lines = (facts: readonly Fact[]) => facts.map(referenceOf).map(({ id, name }) => `${id} ${name}`);
    return this.#fact('removal', by, options.after, [
      ['without', lines(out)],
      ['for', lines(given)],
      ['check', ID],
      ['older', 'AAAA'],
    ]);
  }

  slot(by: Fact, to: Fact, root: Fact | string, after?: readonly Fact[]): Fact {
    const { id, name } = referenceOf(to);
    return this.#fact('slot', by, after, [
      ['for', `${id} ${name}`],
      ['root', idOf(root)],
    ]);
  }

  version(
    by: Fact,
    number: number,
    options: { after?: readonly Fact[]; under?: Fact | string; key?: string } = {},
  ): Fact {
    const fields = [
      ['key', options.key ?? 'app'],
      ['version', number],
      ['type', 'aes256-gcm96'],
      ['under', idOf(options.under ?? this.first)],
      ['material', 'AAAA'],
    ] as const;
    return this.#fact('version', by, options.after, fields);
  }

  /** A fact of a kind that only a later version knows. */
  unknown(by: Fact, after: readonly Fact[] = this.heads): Fact {
    const message = printMessage('slot', this.#common(by, after)).replace('1 slot', '1 retire');
    const bytes = Buffer.from(printFact(message, 'AAAA'));
    const id = factIdOf(message);
    const fact = parseFact(bytes, `retired/${id}.${id}`);
    this.facts.set(fact.id, fact);
    return fact;
  }

  #fact(
    kind: FactKind,
    by: Fact,
    after: readonly Fact[] = this.heads,
    fields: readonly (readonly [string, string | number | readonly string[] | undefined])[],
  ): Fact {
    return this.put(
      printMessage(kind, [...this.#common(by, after), ...fields], kind === 'version' ? '' : ARMOR),
    );
  }

  #common(by: Fact, after: readonly Fact[]) {
    const ids = [...new Set(after.map(({ id }) => id))].sort().join(' ');
    const { id, name } = referenceOf(by);
    return [
      ['store', this.first.id],
      ['after', ids],
      ['epoch', this.first.id],
      ['by', `${id} ${name}`],
      ['at', this.#time()],
    ] as const;
  }

  /** No two facts are made at one time, so that no two are one; unless `seconds` says when. */
  #time(): string {
    const seconds = this.seconds ?? this.#count++;
    return `${new Date(Date.UTC(2026, 0, 1) + 1000 * seconds).toISOString().slice(0, 19)}Z`;
  }
}

const idOf = (fact: Fact | string): string => (typeof fact === 'string' ? fact : fact.id);
const factIdOf = (message: string): string => pathOf(message).slice(-32);
