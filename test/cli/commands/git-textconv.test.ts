import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { command } from '../../../src/cli/commands/git-textconv.ts';
import { temporaryDirectory } from '../../store/temporary-store.ts';
import { answeredSession } from '../answering.ts';

const PAYLOAD = Buffer.alloc(30, 7).toString('base64');

/** What git is shown of a file whose values are under so many keys, and the requests made for it. */
async function shown(keys: number) {
  const path = join(temporaryDirectory(), 'f.env');
  const text = Array.from({ length: keys }, (_, at) => `N${at}=coffer:k${at}:v1:${PAYLOAD}\n`).join('');
  writeFileSync(path, text);
  const { session, streams, calls } = answeredSession(() => ({ batch_results: [{ plaintext: 'eA==' }] }));
  expect(await command.run(session, { arguments: [path], options: new Map() })).toBe(0);
  return { text, out: streams.written.out, requests: calls.length };
}

it('a diff has the values of up to a hundred keys decrypted, and a file with more keys as it is', async () => {
  const hundred = await shown(100);
  expect(hundred.requests).toBe(100);
  expect(hundred.out).toBe(Array.from({ length: 100 }, (_, at) => `N${at}=x\n`).join(''));
  const more = await shown(101);
  expect(more.requests).toBe(0);
  expect(more.out).toBe(more.text);
});
