import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { local } from './harness.ts';

/** Follows docs/keys.md: its commands, one after the other, on a store of their own. */

const page = readFileSync(fileURLToPath(new URL('../../docs/keys.md', import.meta.url)), 'utf8');
const commands = [...page.matchAll(/<!-- tested -->\n```sh\n([\s\S]*?)```/g)].flatMap(([, text = '']) =>
  text
    .split('\n')
    .map((line) => line.replace(/\s+#.*$/, '').replace(/^coffer /, ''))
    .filter((line) => line !== ''),
);

let at: Awaited<ReturnType<typeof local.start>>;
beforeAll(async () => {
  at = await local.start();
});
afterAll(() => at.stop());

it('the page about keys says commands that do what it says', async () => {
  const { place } = at;
  for (const command of commands) await place.ok(command);
  expect(await place.json('transit keys read orders')).toMatchObject({
    keep_versions: 2,
    auto_trim: true,
    destroyed_versions: [4],
    latest_version: 5,
  });
});
