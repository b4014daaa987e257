import assert from 'node:assert/strict';
import type { Contents, Puts, Said } from '../conditions/parts.ts';

/** A part of a store as it must be: what is there for certain, and what a process that was killed may have done. */
export class Part {
  #contents: Contents = {};
  /** A change that nobody knows about. */
  #pending: Puts | undefined;
  acknowledged = 0;

  /** Hears what a process says that has the part for itself. @throws if it finds something else than there may be */
  hear(line: string): void {
    const { found, tries, isDone } = JSON.parse(line) as Said;
    if (found !== undefined) this.#mustBe(found);
    if (isDone === true) {
      this.#contents = after(this.#contents, this.#pending);
      this.acknowledged++;
    }
    this.#pending = tries;
  }

  #mustBe(found: Contents): void {
    const allowed = [this.#contents, after(this.#contents, this.#pending)];
    const isAllowed = allowed.some((each) => isSame(each, found));
    assert.ok(isAllowed, `found ${toText(found)}, not ${allowed.map(toText).join(' or ')}`);
    this.#contents = found;
  }
}

const after = (contents: Contents, puts: Puts = {}): Contents =>
  Object.fromEntries(
    Object.entries<number | null>({ ...contents, ...puts }).filter(
      (entry): entry is [string, number] => entry[1] !== null,
    ),
  );

const toText = (contents: Contents): string => JSON.stringify(Object.entries(contents).sort());
const isSame = (a: Contents, b: Contents): boolean => toText(a) === toText(b);
