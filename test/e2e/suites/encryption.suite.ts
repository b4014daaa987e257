import { randomBytes } from 'node:crypto';
import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { isLong } from '../../long.ts';
import { base64 } from '../harness.ts';
import type { Suite } from './index.ts';

export const encryptionSuite: Suite = (here) => {
  it.each([
    ['nothing', Buffer.alloc(0)],
    ['one byte', Buffer.from([0xff])],
    ['a zero byte and a newline', Buffer.from([0x00, 0x0a])],
    ['text that is not ASCII', Buffer.from('Grüße, 世界 🗝\n')],
    ['every byte there is', Buffer.from(Array.from({ length: 256 }, (_, value) => value))],
  ])('gives back %s through two pipes', async (_, plaintext) => {
    await here().ok('transit keys create pipe --if-missing --quiet');
    const { stdout, exitCode, stderr } = await here().run('transit encrypt pipe', { input: plaintext });
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });
    expect(stdout).toMatch(/^service:v1:[A-Za-z0-9+/]+=*\n$/);
    const opened = await here().run('transit decrypt pipe', { input: stdout });
    expect(opened.bytes.equals(plaintext)).toBe(true);
    expect(opened.stderr).toBe('');
  });

  it('gives back megabytes of random bytes identical', async () => {
    const plaintext = randomBytes(isLong ? 20_000_000 : 2_000_000);
    writeFileSync(here().file('large'), plaintext);
    await here().ok('transit encrypt large --in large --out large.sealed');
    await here().ok('transit decrypt large --in large.sealed --out large.opened');
    expect(readFileSync(here().file('large.opened')).equals(plaintext)).toBe(true);
    expect(statSync(here().file('large.opened')).mode & 0o777).toBe(0o600);
  });

  it('takes a text, base64, a file or standard input, and decrypts to bytes, base64 or JSON', async () => {
    writeFileSync(here().file('value'), 'from a file');
    const decrypted = (ciphertext: string) => here().ok(['transit', 'decrypt', 'ways', ciphertext]);
    expect(await decrypted(await here().ok(['transit', 'encrypt', 'ways', 'as an argument']))).toBe(
      'as an argument',
    );
    expect(
      await decrypted(await here().ok(['transit', 'encrypt', 'ways', base64('in base64'), '--base64'])),
    ).toBe('in base64');
    expect(await decrypted(await here().ok('transit encrypt ways --in value'))).toBe('from a file');
    expect(await decrypted(await here().ok('transit encrypt ways -', { input: 'piped' }))).toBe('piped');
    const ciphertext = await here().ok(['transit', 'encrypt', 'ways', 'x y']);
    expect(await here().ok(['transit', 'decrypt', 'ways', ciphertext, '--base64'])).toBe(base64('x y'));
    expect(await here().json(['transit', 'decrypt', 'ways', ciphertext])).toEqual({
      plaintext: base64('x y'),
    });
    expect(await here().json(['transit', 'encrypt', 'ways', 'x'])).toMatchObject({ key_version: 1 });
  });

  it('makes the key on the first encrypt: derived exactly when there is a context, and never with --no-create', async () => {
    await here().ok('transit encrypt made-plain x');
    expect(await here().json('transit keys read made-plain')).toMatchObject({
      derived: false,
      type: 'aes256-gcm96',
    });
    await here().ok('transit encrypt made-derived x --context-text here --type chacha20-poly1305');
    expect(await here().json('transit keys read made-derived')).toMatchObject({
      derived: true,
      type: 'chacha20-poly1305',
    });
    await here().refused('transit encrypt never-made x --no-create', 3);
    await here().refused('transit keys read never-made', 3);
  });

  it('binds derived ciphertexts to their context, given as base64 or as text', async () => {
    await here().ok('transit keys create derived --derived');
    const ciphertext = await here().ok('transit encrypt derived secret --context-text tenant-1');
    expect(await here().ok(`transit decrypt derived ${ciphertext} --context ${base64('tenant-1')}`)).toBe(
      'secret',
    );
    await here().refused(`transit decrypt derived ${ciphertext} --context-text tenant-2`, 4);
    expect(await here().refused(`transit decrypt derived ${ciphertext}`, 2)).toContain('context');
  });

  it('gives the same ciphertext for the same plaintext and context with a convergent key', async () => {
    await here().ok('transit keys create same --derived --convergent-encryption');
    const encrypt = (context: string) => here().ok(`transit encrypt same secret --context-text ${context}`);
    expect(await encrypt('a')).toBe(await encrypt('a'));
    expect(await encrypt('a')).not.toBe(await encrypt('b'));
  });

  it('authenticates associated data', async () => {
    const ciphertext = await here().ok('transit encrypt bound secret --associated-data-text row-17');
    expect(await here().ok(`transit decrypt bound ${ciphertext} --associated-data ${base64('row-17')}`)).toBe(
      'secret',
    );
    await here().refused(`transit decrypt bound ${ciphertext} --associated-data-text row-18`, 4);
  });

  it('encrypts with the version that is asked for, and rewraps to the latest without showing the plaintext', async () => {
    await here().ok('transit keys create versions');
    await here().ok('transit keys rotate versions');
    const old = await here().ok('transit encrypt versions secret --key-version 1');
    expect(old).toMatch(/^service:v1:/);
    expect(await here().ok('transit encrypt versions secret')).toMatch(/^service:v2:/);
    const moved = await here().ok('transit rewrap versions', { input: `${old}\n` });
    expect(moved).toMatch(/^service:v2:/);
    expect(await here().ok(`transit decrypt versions ${moved}`)).toBe('secret');
    expect(await here().refused('transit encrypt versions x --key-version 3', 2)).toContain('--key-version');
    await here().ok('transit keys config versions --min-decryption-version 2');
    await here().refused(`transit decrypt versions ${old}`, 2);
  });

  it('reads both prefixes', async () => {
    const ciphertext = await here().ok('transit encrypt prefixes secret');
    expect(await here().ok(`transit decrypt prefixes ${ciphertext.replace('service:', 'vault:')}`)).toBe(
      'secret',
    );
  });

  it('makes data keys: with the plaintext, or wrapped alone', async () => {
    await here().ok('transit keys create wrapping');
    const made = (await here().json('transit datakey plaintext wrapping --bits 512')) as Record<
      string,
      string
    >;
    expect(Buffer.from(made['plaintext'] ?? '', 'base64')).toHaveLength(64);
    expect(await here().ok(`transit decrypt wrapping ${made['ciphertext']} --base64`)).toBe(
      made['plaintext'],
    );
    const wrapped = await here().json('transit datakey wrapped wrapping');
    expect(wrapped).not.toHaveProperty('plaintext');
    await here().refused('transit datakey plaintext wrapping --bits 100', 2);
    await here().refused('transit datakey naked wrapping', 2);
  });

  it('leaves the output file alone when decryption fails', async () => {
    writeFileSync(here().file('kept'), 'old');
    const ciphertext = await here().ok('transit encrypt kept secret');
    const altered = `${ciphertext.slice(0, -4)}AAA=`;
    await here().refused(`transit decrypt kept ${altered} --out kept --force`, 4);
    expect(readFileSync(here().file('kept'), 'utf8')).toBe('old');
  });

  describe('bad input', () => {
    const sealed = (): Promise<string> => here().ok('transit encrypt strict secret');
    const flipped = (ciphertext: string): string => {
      const bytes = Buffer.from(ciphertext.slice('service:v1:'.length), 'base64');
      bytes[20] = (bytes[20] ?? 0) ^ 1;
      return `service:v1:${bytes.toString('base64')}`;
    };

    it.each<[string, () => readonly string[] | Promise<readonly string[]>, string]>([
      [
        'a ciphertext without a prefix',
        async () => ['decrypt', 'strict', (await sealed()).slice(11)],
        'ciphertext',
      ],
      [
        'a ciphertext with a bad version',
        async () => ['decrypt', 'strict', (await sealed()).replace('v1', 'vx')],
        'ciphertext',
      ],
      [
        'a ciphertext of a version to come',
        async () => ['decrypt', 'strict', (await sealed()).replace('v1', 'v9')],
        'ciphertext',
      ],
      ['an empty ciphertext', () => ['decrypt', 'strict', ''], 'ciphertext'],
      ['a plaintext that is not base64', () => ['encrypt', 'strict', 'n!t', '--base64'], 'plaintext'],
      ['a context that is not base64', () => ['encrypt', 'strict', 'x', '--context', 'n!t'], 'context'],
      ['a nonce of the wrong length', () => ['encrypt', 'strict', 'x', '--nonce', base64('short')], 'nonce'],
      ['an empty key version', () => ['encrypt', 'strict', 'x', '--key-version', ''], '--key-version'],
      ['a value and a file', () => ['encrypt', 'strict', 'x', '--in', 'value'], '--in'],
      ['a file that is not there', () => ['encrypt', 'strict', '--in', 'nowhere'], '--in'],
      ['a place that is not there', () => ['encrypt', 'strict', 'x', '--out', 'no/where'], '--out'],
      ['an unknown output format', () => ['encrypt', 'strict', 'x', '-o', 'xml'], '--output'],
    ])('refuses %s in one line that names it', async (_, words, named) => {
      expect(await here().refused(['transit', ...(await words())], 2)).toContain(named);
    });

    it.each([
      ['a truncated ciphertext', () => 'service:v1:AAAA'],
      ['a ciphertext with one bit altered', async () => flipped(await sealed())],
    ])('refuses %s as what is altered, in one line that names it', async (_, ciphertext) => {
      expect(await here().refused(['transit', 'decrypt', 'strict', await ciphertext()], 4)).toContain(
        'ciphertext',
      );
    });

    it('refuses to decrypt with a key that there is not', async () => {
      expect(await here().refused(`transit decrypt nobody ${await sealed()}`, 3)).toContain('nobody');
    });
  });
};
