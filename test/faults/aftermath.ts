import { existsSync } from 'node:fs';
import { expect } from 'vitest';
import { ailments, leftovers, NO_STORE, pictureOf } from './picture.ts';
import type { Sandbox } from './sandbox.ts';
import { lookAt, storeOf, type Write } from './writes.ts';

/** How things look when a command has done nothing, and when it has done all. */
export interface Expected {
  readonly before: string;
  readonly after: string;
}

/**
 * The promises of the store after a fault: nothing acknowledged is lost, nothing is half there, the next commands work at once and
 * clear away what was left, and `doctor` finds nothing wrong at any time.
 */
export async function checkStoreAfter(
  write: Write,
  box: Sandbox,
  expected: Expected,
  { acknowledged }: { readonly acknowledged: boolean },
): Promise<void> {
  const store = storeOf(write, box);
  expect(await ailments(store)).toEqual([]);
  const found = await lookAt(write, box);
  if (found !== expected.after) expect(found).toBe(acknowledged ? expected.after : expected.before);
  if (found === expected.before) {
    const again = await box.run(write.words(box), write.input === undefined ? {} : { input: write.input });
    expect(again).toMatchObject({ exitCode: 0 });
  }
  await box.ok(['orgs', 'create', 'the-next', '--store', store]);
  expect(await ailments(store)).toEqual([]);
  expect(existsSync(store) ? leftovers(store) : NO_STORE).toEqual([]);
  expect(await pictureOf(store)).toContain('the-next');
}
