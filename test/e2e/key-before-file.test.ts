import { writeFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Place, removePlace } from './harness.ts';
import { filledPlace } from './typed.ts';

let bare: Place;
let here: Place;
beforeAll(async () => {
  ({ bare, here } = await filledPlace(['transit keys create rel --type ed25519']));
  for (const file of ['app', 'app.sig', 'app.coffer', 'out']) writeFileSync(here.file(file), 'old');
});
afterAll(() => removePlace(bare));

describe('a key that does not exist, and a file that does', () => {
  it.each([
    'sign app --key rle',
    'transit keys public rle --out out',
    'transit envelope encrypt rle app',
    'transit backup rle --out out',
  ])('are reported in this order, so that --force is not tried in vain: %s', async (line) => {
    const [first, second] = [await here.refused(fill(line), 3), await here.refused(fill(`${line} --yes`), 3)];
    expect(first).toContain('key "rle" not found (did you mean "rel"?)');
    expect(second).toBe(first);
  });

  it.each(['sign app --key rel', 'transit encrypt fresh aGk= --out out'])(
    'are no mistake if the key exists or is created: %s',
    async (line) => {
      expect(await here.refused(fill(line), 6)).toContain('already exists (use --force to overwrite it)');
    },
  );
});

/** Replaces the names of files by their paths in the directory of the test. */
function fill(line: string): string {
  return line.replace(/(?<= )(?:app|out)(?= |$)/g, (name) => here.file(name));
}
