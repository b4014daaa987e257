import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { DONE, FAILED, UNCONFIRMED } from '../../src/cli/exit-codes.ts';
import { usualWorld } from './layer/fixed-world.ts';
import { ailments, leftovers, pictureOf } from './picture.ts';
import type { Answer, Sandbox } from './sandbox.ts';
import { lookAt, storeOf, type Write } from './writes.ts';

/** How things look when a command has done nothing, and when it has done all. */
export interface Expected {
  readonly before: string;
  readonly after: string;
}

/** Both, of a command that is run undisturbed in a copy of `box`. */
export async function expectationsOf(write: Write, box: Sandbox): Promise<Expected> {
  const copy = box.copy();
  const before = await lookAt(write, copy);
  assert.equal((await run(write, copy)).exitCode, 0, write.name);
  const after = await lookAt(write, copy);
  copy.remove();
  assert.notEqual(before, after, `"${write.name}" shows no effect`);
  return { before, after };
}

/** Runs it as it was run for the expectations: with the same time and chance. */
export function run(write: Write, box: Sandbox): Promise<Answer> {
  const input = write.input === undefined ? {} : { input: write.input };
  return box.run(write.words(box), { world: usualWorld, ...input });
}

/**
 * The promises of the store after a fault: nothing acknowledged is lost, nothing is half there, the next commands work at once and
 * clear away what was left, and `doctor` finds nothing wrong at any time.
 */
export async function checkStoreAfter(
  write: Write,
  box: Sandbox,
  expected: Expected,
  { acknowledged, exitCode }: { readonly acknowledged: boolean; readonly exitCode?: number },
): Promise<void> {
  const store = storeOf(write, box);
  assert.deepEqual(await ailments(store), []);
  const found = await lookAt(write, box);
  if (found !== expected.after) assert.equal(found, acknowledged ? expected.after : expected.before);
  if (exitCode !== undefined && write.isRepeatable !== true) {
    // Whoever goes by the exit code does again what is not done, and does nothing twice.
    assert.equal(exitCode, found === expected.before ? FAILED : exitCode === DONE ? DONE : UNCONFIRMED);
  }
  if (found === expected.before) {
    const input = write.input === undefined ? {} : { input: write.input };
    const again = await box.run(write.words(box), input);
    assert.equal(again.exitCode, 0, again.stderr);
  }
  await box.ok(['orgs', 'create', 'the-next', '--store', store]);
  assert.deepEqual(await ailments(store), []);
  assert.deepEqual(existsSync(store) ? leftovers(store) : 'no store', []);
  assert.match(await pictureOf(store), /the-next/);
}

/** What Node and our own words call each code. */
const REASONS: Readonly<Record<string, RegExp>> = {
  EIO: /the disk reports an error|i\/o error|EIO/i,
  ENOSPC: /no space left|the disk is full/i,
  EDQUOT: /quota/i,
  EFBIG: /limit of file sizes/i,
  EMFILE: /too many open files/i,
  EACCES: /permission denied/i,
  EROFS: /read-only/i,
  EINTR: /interrupted|EINTR/i,
};

/** A refusal is one line that says why, with the exit code of a failure. */
export function checkRefusal(
  { exitCode, stderr }: Answer,
  code: string,
  exitCodes: readonly number[] = [FAILED, UNCONFIRMED],
): void {
  assert.match(stderr, /^coffer: [^\n]+\n$/);
  assert.doesNotMatch(stderr, /unexpected/);
  assert.match(stderr, REASONS[code] ?? /an unknown code/);
  assert.ok(exitCodes.includes(exitCode), `exit code ${exitCode}`);
  // What is made is not to be made again, and what is not made is not said to be.
  const isMade = /^coffer: [^(]*(made|done|written|created|succeeded|with a new root key), but/.test(stderr);
  assert.equal(isMade, exitCode === UNCONFIRMED, stderr);
}
