import { readFileSync, writeFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { isLong } from '../../long.ts';
import { base64 } from '../harness.ts';
import type { Suite } from './index.ts';

/** Lines before one that differs, which is in the first request of 1,000, at its end, in the second one, or in the third one. */
const MANY = isLong ? [1, 999, 1000, 2500] : [1, 1000];

const parsed = (lines: string): unknown[] =>
  lines
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));

export const batchSuite: Suite = (here) => {
  it('encrypts a line for a line, and decrypts what it wrote', async () => {
    const items = Array.from({ length: 2500 }, (_, index) => ({ plaintext: base64(`item ${index}`) }));
    const input = items.map((item) => JSON.stringify(item)).join('\n');
    const sealed = await here().ok('transit encrypt many --batch -', { input });
    const opened = await here().ok('transit decrypt many --batch -', { input: sealed });
    expect(parsed(opened)).toMatchObject(items);
    expect(parsed(opened)).toHaveLength(items.length);
  });

  it('reads one JSON array from a file, and writes to a file', async () => {
    const items = [{ plaintext: base64('a') }, { plaintext: base64('b') }];
    writeFileSync(here().file('array.json'), JSON.stringify(items, undefined, 2));
    expect(await here().ok('transit encrypt many --batch array.json --out sealed.ndjson')).toBe('');
    const sealed = parsed(readFileSync(here().file('sealed.ndjson'), 'utf8'));
    expect(sealed).toHaveLength(2);
    expect(parsed(await here().ok('transit decrypt many --batch sealed.ndjson'))).toMatchObject(items);
  });

  it('lets a bad item fail alone, in its place, and ends with exit code 1', async () => {
    const input = [
      JSON.stringify({ plaintext: base64('good') }),
      '',
      'not json',
      JSON.stringify({ plaintext: 'n!t base64' }),
      JSON.stringify({}),
      JSON.stringify({ plaintext: base64('also good') }),
    ].join('\n');
    const { exitCode, stdout, stderr } = await here().run('transit encrypt many --batch -', { input });
    expect(exitCode).toBe(1);
    expect(stderr).toBe('coffer: 3 of 5 items failed\n');
    expect(parsed(stdout)).toMatchObject([
      { ciphertext: expect.stringMatching(/^service:v1:/) },
      { error: expect.stringContaining('JSON') },
      { error: expect.stringContaining('base64') },
      { error: expect.any(String) },
      { ciphertext: expect.stringMatching(/^service:v1:/) },
    ]);
  });

  it('gives each item its own context', async () => {
    await here().ok('transit keys create per-item --derived --convergent-encryption');
    const item = (context: string) => JSON.stringify({ plaintext: base64('same'), context: base64(context) });
    const input = [item('a'), item('b'), item('a')].join('\n');
    const [first, second, third] = parsed(await here().ok('transit encrypt per-item --batch -', { input }));
    expect(first).toEqual(third);
    expect(first).not.toEqual(second);
  });

  it('rewraps, signs, verifies and makes HMACs in batches', async () => {
    await here().ok('transit keys create moving');
    const old = await here().ok('transit encrypt moving x');
    await here().ok('transit keys rotate moving');
    const rewrapped = await here().ok('transit rewrap moving --batch -', {
      input: JSON.stringify({ ciphertext: old }),
    });
    expect(parsed(rewrapped)).toMatchObject([{ ciphertext: expect.stringMatching(/^service:v2:/) }]);

    await here().ok('transit keys create signing --type ed25519');
    const inputs = ['a', 'b'].map((text) => ({ input: base64(text) }));
    const lines = (items: readonly object[]) => items.map((item) => JSON.stringify(item)).join('\n');
    const signed = parsed(await here().ok('transit sign signing --batch -', { input: lines(inputs) }));
    const claims = inputs.map((item, index) => ({ ...item, ...(signed[index] as { signature: string }) }));
    expect(
      parsed(await here().ok('transit verify signing --batch -', { input: lines(claims) })),
    ).toMatchObject([{ valid: true }, { valid: true }]);
    const swapped = claims.map((claim, index) => ({ ...claim, input: inputs[1 - index]?.input }));
    const answer = await here().run('transit verify signing --batch -', { input: lines(swapped) });
    expect(answer.exitCode).toBe(5);
    expect(parsed(answer.stdout)).toMatchObject([{ valid: false }, { valid: false }]);
    const hmacs = parsed(await here().ok('transit hmac moving --batch -', { input: lines(inputs) }));
    expect(hmacs).toMatchObject([{ hmac: expect.any(String) }, { hmac: expect.any(String) }]);
  });

  const mixedLines = (usual: object, many: number, last: object): string =>
    [...Array.from({ length: many }, () => usual), last].map((item) => JSON.stringify(item)).join('\n');

  it.each(MANY)('answers %i lines without a context and one with one, line for line', async (many) => {
    await here().ok('transit keys create contexts --derived --if-missing');
    const input = mixedLines({ plaintext: '' }, many, { plaintext: '', context: base64('a') });
    const plain = parsed(await here().ok('transit encrypt uneven --batch -', { input }));
    expect(plain).toHaveLength(many + 1);
    const derived = await here().run('transit encrypt contexts --batch -', { input });
    expect(derived.exitCode).toBe(1);
    const answers = parsed(derived.stdout);
    expect(answers).toHaveLength(many + 1);
    expect(answers.filter((answer) => 'error' in (answer as object))).toHaveLength(many);
    expect(answers.at(-1)).toMatchObject({ key_version: 1 });
  });

  it('makes a missing key that fits the first line that can be encrypted, wherever it stands', async () => {
    const input = mixedLines({ plaintext: 'n!t' }, 1200, { plaintext: '', context: base64('a') });
    const { stdout } = await here().run('transit encrypt late --batch -', {
      input: `${input}\n${JSON.stringify({ plaintext: '' })}`,
    });
    expect(parsed(stdout)).toHaveLength(1202);
    expect(await here().ok('transit keys read late -o json')).toMatch(/"derived": ?true/);
  });

  it.each(MANY)('refuses %i signatures and an HMAC before anything is printed', async (many) => {
    await here().ok('transit keys create mixing --type ed25519 --if-missing');
    const signature = await here().ok('transit sign mixing x');
    const one = { input: base64('x'), signature };
    const input = mixedLines(one, many, { input: base64('x'), hmac: signature });
    expect(await here().refused('transit verify mixing --batch -', 2, { input })).toContain(
      "must all provide 'signature' or all provide 'hmac'",
    );
    const alone = await here().run('transit verify mixing --batch -', { input: mixedLines(one, many, {}) });
    expect(alone.exitCode).toBe(1);
    expect(parsed(alone.stdout)).toHaveLength(many + 1);
  });

  it('says that there is no such key before any line, however many lines are no items', async () => {
    const input = `${'no item\n'.repeat(1200)}{"ciphertext":"service:v1:AAAA"}`;
    expect(await here().refused('transit decrypt nobody --batch -', 3, { input })).toContain('nobody');
  });

  it.each([
    ['a value beside it', ['x', '--batch', '-'], 'VALUE cannot be used with --batch'],
    ['a file beside it', ['--in', 'array.json', '--batch', '-'], '--in'],
    ['a file that is not there', ['--batch', 'nowhere'], '--batch'],
  ])('refuses %s', async (_, words, named) => {
    expect(await here().refused(['transit', 'encrypt', 'many', ...words], 2)).toContain(named);
  });

  it('fails as a whole when there is no such key', async () => {
    expect(
      await here().refused('transit decrypt nobody --batch -', 3, {
        input: '{"ciphertext":"service:v1:AAAA"}',
      }),
    ).toContain('nobody');
  });
};
