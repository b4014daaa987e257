import { expect } from 'vitest';
import type { Chance } from '../../chance.ts';
import type { Sandbox } from '../sandbox.ts';

/** One change, by a command. */
export interface Work {
  readonly words: readonly string[];
  /** It was told that the change is made. */
  acknowledge(): void;
}

/** One change, by a request. */
export interface Request {
  readonly path: string;
  acknowledge(): void;
}

/** What many processes were told is done, and what they have tried. */
export class Ledger {
  readonly #box: Sandbox;
  readonly #keys = new Set<string>();
  readonly #tags = new Set<string>();
  readonly #deletedTags = new Set<string>();
  /** Names that anybody has tried to make a key, or a tag, of. */
  readonly #tried = new Map<Set<string>, Set<string>>();
  readonly #versionsBefore: number;
  #rotations = { tried: 0, done: 0 };
  #rekeys = { tried: 0, done: 0 };
  #names = 0;
  acknowledged = 0;

  private constructor(box: Sandbox, versions: number) {
    this.#box = box;
    this.#versionsBefore = versions;
  }

  static async open(box: Sandbox): Promise<Ledger> {
    return new Ledger(box, await versionsIn(box));
  }

  next(chance: Chance): Work {
    const name = `n${this.#names++}`;
    const works: readonly (() => Work)[] = [
      () => this.#adding(['transit', 'keys', 'create', name], this.#keys, name),
      () => this.#adding(['transit', 'encrypt', name, 'text'], this.#keys, name),
      () => this.#adding(['tags', 'create', name], this.#tags, name),
      () => this.#counting(['transit', 'keys', 'rotate', 'letters'], this.#rotations),
      () => this.#deletingTag(name),
    ];
    return chance.oneIn(24) ? this.#counting(['rekey'], this.#rekeys) : chance.pick(works)();
  }

  nextRequest(chance: Chance): Request {
    const name = `n${this.#names++}`;
    if (chance.oneIn(2)) {
      const { acknowledge } = this.#counting([], this.#rotations);
      return { path: '/v1/transit/keys/letters/rotate', acknowledge };
    }
    return { path: `/v1/transit/keys/${name}`, ...this.#adding([], this.#keys, name) };
  }

  #adding(words: readonly string[], to: Set<string>, name: string): Work {
    this.#triedIn(to).add(name);
    return { words, acknowledge: () => this.#acknowledge(() => to.add(name)) };
  }

  #triedIn(names: Set<string>): Set<string> {
    const tried = this.#tried.get(names) ?? new Set();
    this.#tried.set(names, tried);
    return tried;
  }

  #counting(words: readonly string[], counter: { tried: number; done: number }): Work {
    counter.tried++;
    return { words, acknowledge: () => this.#acknowledge(() => counter.done++) };
  }

  /** Whoever is killed at it may have deleted the tag or not, so that nobody counts on it any more. */
  #deletingTag(fresh: string): Work {
    const [name] = this.#tags;
    if (name === undefined) return this.#adding(['tags', 'create', fresh], this.#tags, fresh);
    this.#tags.delete(name);
    return this.#adding(['tags', 'delete', name, '--yes'], this.#deletedTags, name);
  }

  #acknowledge(note: () => void): void {
    this.acknowledged++;
    note();
  }

  /** All that was acknowledged is there, nothing is that nobody has tried to make, nobody has changed anything twice, and every version of a key is one more than the last. */
  async check(): Promise<void> {
    const box = this.#box;
    const { keys } = JSON.parse(await box.ok(['transit', 'keys', 'list', '-o', 'json'])) as {
      keys: string[];
    };
    expect([...this.#keys].filter((name) => !keys.includes(name))).toEqual([]);
    expect(ours(keys).filter((name) => !this.#triedIn(this.#keys).has(name))).toEqual([]);
    const tags = await box.ok(['tags', 'list', '--all', '-o', 'json']);
    const has = (name: string): boolean => tags.includes(`"${name}"`);
    const named = [...tags.matchAll(/"(n\d+)"/g)].map(([, name = '']) => name);
    expect(named.filter((name) => !this.#triedIn(this.#tags).has(name))).toEqual([]);
    expect([...this.#tags].filter((name) => !has(name))).toEqual([]);
    expect([...this.#deletedTags].filter(has)).toEqual([]);
    const versions = (await versionsIn(box)) - this.#versionsBefore;
    expect(versions).toBeGreaterThanOrEqual(this.#rotations.done);
    expect(versions).toBeLessThanOrEqual(this.#rotations.tried);
    const { generation } = JSON.parse(await box.ok(['status', '-o', 'json'])) as { generation: number };
    expect(generation).toBeGreaterThanOrEqual(1 + this.#rekeys.done);
    expect(generation).toBeLessThanOrEqual(1 + this.#rekeys.tried);
  }
}

const ours = (names: readonly string[]): readonly string[] => names.filter((name) => /^n\d+$/.test(name));

async function versionsIn(box: Sandbox): Promise<number> {
  const { keys } = JSON.parse(await box.ok(['transit', 'keys', 'read', 'letters', '-o', 'json'])) as {
    keys: object;
  };
  const versions = Object.keys(keys).map(Number);
  expect(versions).toEqual(versions.map((_, index) => index + 1));
  return versions.length;
}
