import { readFileSync, writeFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { base64 } from '../harness.ts';
import type { Suite } from './index.ts';

const parsed = (lines: string): unknown[] =>
  lines
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));

export const batchSuite: Suite = (here) => {
  it('encrypts a line for a line, and decrypts what it wrote', () => {
    const items = Array.from({ length: 2500 }, (_, index) => ({ plaintext: base64(`item ${index}`) }));
    const input = items.map((item) => JSON.stringify(item)).join('\n');
    const sealed = here().ok('transit encrypt many --batch -', { input });
    const opened = here().ok('transit decrypt many --batch -', { input: sealed });
    expect(parsed(opened)).toMatchObject(items);
    expect(parsed(opened)).toHaveLength(items.length);
  });

  it('reads one JSON array from a file, and writes to a file', () => {
    const items = [{ plaintext: base64('a') }, { plaintext: base64('b') }];
    writeFileSync(here().file('array.json'), JSON.stringify(items, undefined, 2));
    expect(here().ok('transit encrypt many --batch array.json --out sealed.ndjson')).toBe('');
    const sealed = parsed(readFileSync(here().file('sealed.ndjson'), 'utf8'));
    expect(sealed).toHaveLength(2);
    expect(parsed(here().ok('transit decrypt many --batch sealed.ndjson'))).toMatchObject(items);
  });

  it('lets a bad item fail alone, in its place, and ends with exit code 1', () => {
    const input = [
      JSON.stringify({ plaintext: base64('good') }),
      '',
      'not json',
      JSON.stringify({ plaintext: 'n!t base64' }),
      JSON.stringify({}),
      JSON.stringify({ plaintext: base64('also good') }),
    ].join('\n');
    const { exitCode, stdout, stderr } = here().run('transit encrypt many --batch -', { input });
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

  it('gives each item its own context', () => {
    here().ok('transit keys create per-item --derived --convergent-encryption');
    const item = (context: string) => JSON.stringify({ plaintext: base64('same'), context: base64(context) });
    const input = [item('a'), item('b'), item('a')].join('\n');
    const [first, second, third] = parsed(here().ok('transit encrypt per-item --batch -', { input }));
    expect(first).toEqual(third);
    expect(first).not.toEqual(second);
  });

  it('rewraps, signs, verifies and makes HMACs in batches', () => {
    here().ok('transit keys create moving');
    const old = here().ok('transit encrypt moving x');
    here().ok('transit keys rotate moving');
    const rewrapped = here().ok('transit rewrap moving --batch -', {
      input: JSON.stringify({ ciphertext: old }),
    });
    expect(parsed(rewrapped)).toMatchObject([{ ciphertext: expect.stringMatching(/^service:v2:/) }]);

    here().ok('transit keys create signing --type ed25519');
    const inputs = ['a', 'b'].map((text) => ({ input: base64(text) }));
    const lines = (items: readonly object[]) => items.map((item) => JSON.stringify(item)).join('\n');
    const signed = parsed(here().ok('transit sign signing --batch -', { input: lines(inputs) }));
    const claims = inputs.map((item, index) => ({ ...item, ...(signed[index] as { signature: string }) }));
    expect(parsed(here().ok('transit verify signing --batch -', { input: lines(claims) }))).toMatchObject([
      { valid: true },
      { valid: true },
    ]);
    const swapped = claims.map((claim, index) => ({ ...claim, input: inputs[1 - index]?.input }));
    const answer = here().run('transit verify signing --batch -', { input: lines(swapped) });
    expect(answer.exitCode).toBe(5);
    expect(parsed(answer.stdout)).toMatchObject([{ valid: false }, { valid: false }]);
    const hmacs = parsed(here().ok('transit hmac moving --batch -', { input: lines(inputs) }));
    expect(hmacs).toMatchObject([{ hmac: expect.any(String) }, { hmac: expect.any(String) }]);
  });

  it('needs constant memory for a stream of any length', () => {
    const script = `
      set +o pipefail
      yes '{"plaintext":"${base64('x'.repeat(1000))}"}' | head -n 60000 |
        NODE_OPTIONS=--max-old-space-size=48 coffer transit encrypt many --batch - | wc -l`;
    const { stdout, stderr, exitCode } = here().shell(script);
    expect({ stdout: stdout.trim(), stderr, exitCode }).toEqual({ stdout: '60000', stderr: '', exitCode: 0 });
  });

  it('ends quietly when the reader has seen enough', () => {
    const script = `yes '{"plaintext":"YQ=="}' | head -n 50000 | coffer transit encrypt many --batch - | head -n 1 | wc -l`;
    expect(here().shell(`set +o pipefail; ${script}`)).toMatchObject({ stdout: '1\n', stderr: '' });
  });

  it.each([
    ['a value beside it', ['x', '--batch', '-'], 'VALUE and --batch'],
    ['a file beside it', ['--in', 'array.json', '--batch', '-'], '--in'],
    ['a file that is not there', ['--batch', 'nowhere'], '--batch'],
  ])('refuses %s', (_, words, named) => {
    expect(here().refused(['transit', 'encrypt', 'many', ...words], 2)).toContain(named);
  });

  it('fails as a whole when there is no such key', () => {
    expect(
      here().refused('transit decrypt nobody --batch -', 3, { input: '{"ciphertext":"service:v1:AAAA"}' }),
    ).toContain('nobody');
  });
};
