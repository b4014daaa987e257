import { randomBytes } from 'node:crypto';
import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { base64 } from '../harness.ts';
import type { Suite } from './index.ts';

const MEBI = 2 ** 20;

export const encryptionSuite: Suite = (here) => {
  it.each([
    ['nothing', Buffer.alloc(0)],
    ['one byte', Buffer.from([0xff])],
    ['a zero byte and a newline', Buffer.from([0x00, 0x0a])],
    ['text that is not ASCII', Buffer.from('Grüße, 世界 🗝\n')],
    ['every byte there is', Buffer.from(Array.from({ length: 256 }, (_, value) => value))],
  ])('gives back %s through two pipes', (_, plaintext) => {
    const { stdout, exitCode, stderr } = here().run('transit encrypt pipe', { input: plaintext });
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });
    expect(stdout).toMatch(/^service:v1:[A-Za-z0-9+/]+=*\n$/);
    const opened = here().run('transit decrypt pipe', { input: stdout });
    expect(opened.bytes.equals(plaintext)).toBe(true);
    expect(opened.stderr).toBe('');
  });

  it('gives back 20 MB of random bytes identical, through pipes and through files', () => {
    const plaintext = randomBytes(20_000_000);
    writeFileSync(here().file('large'), plaintext);
    const piped = here().shell(
      'coffer transit encrypt large < large | coffer transit decrypt large | cmp - large',
    );
    expect(piped).toMatchObject({ exitCode: 0, stdout: '' });
    here().ok('transit encrypt large --in large --out large.sealed');
    here().ok('transit decrypt large --in large.sealed --out large.opened');
    expect(readFileSync(here().file('large.opened')).equals(plaintext)).toBe(true);
    expect(statSync(here().file('large.opened')).mode & 0o777).toBe(0o600);
  });

  it('sees the newline that echo writes and printf does not', () => {
    const through = (command: string) =>
      here().shell(`${command} | coffer transit encrypt lines | coffer transit decrypt lines`).stdout;
    expect(through("echo 'line'")).toBe('line\n');
    expect(through("printf 'line'")).toBe('line');
  });

  it('takes a text, base64, a file or standard input, and decrypts to bytes, base64 or JSON', () => {
    writeFileSync(here().file('value'), 'from a file');
    const decrypted = (ciphertext: string) => here().ok(['transit', 'decrypt', 'ways', ciphertext]);
    expect(decrypted(here().ok(['transit', 'encrypt', 'ways', 'as an argument']))).toBe('as an argument');
    expect(decrypted(here().ok(['transit', 'encrypt', 'ways', base64('in base64'), '--base64']))).toBe(
      'in base64',
    );
    expect(decrypted(here().ok('transit encrypt ways --in value'))).toBe('from a file');
    expect(decrypted(here().ok('transit encrypt ways -', { input: 'piped' }))).toBe('piped');
    const ciphertext = here().ok(['transit', 'encrypt', 'ways', 'x y']);
    expect(here().ok(['transit', 'decrypt', 'ways', ciphertext, '--base64'])).toBe(base64('x y'));
    expect(here().json(['transit', 'decrypt', 'ways', ciphertext])).toEqual({ plaintext: base64('x y') });
    expect(here().json(['transit', 'encrypt', 'ways', 'x'])).toMatchObject({ key_version: 1 });
  });

  it('makes the key on the first encrypt: derived exactly when there is a context, and never with --no-create', () => {
    here().ok('transit encrypt made-plain x');
    expect(here().json('transit keys read made-plain')).toMatchObject({
      derived: false,
      type: 'aes256-gcm96',
    });
    here().ok('transit encrypt made-derived x --context-text here --type chacha20-poly1305');
    expect(here().json('transit keys read made-derived')).toMatchObject({
      derived: true,
      type: 'chacha20-poly1305',
    });
    here().refused('transit encrypt never-made x --no-create', 3);
    here().refused('transit keys read never-made', 3);
  });

  it('binds derived ciphertexts to their context, given as base64 or as text', () => {
    here().ok('transit keys create derived --derived');
    const ciphertext = here().ok('transit encrypt derived secret --context-text tenant-1');
    expect(here().ok(`transit decrypt derived ${ciphertext} --context ${base64('tenant-1')}`)).toBe('secret');
    here().refused(`transit decrypt derived ${ciphertext} --context-text tenant-2`, 4);
    expect(here().refused(`transit decrypt derived ${ciphertext}`, 2)).toContain('context');
  });

  it('gives the same ciphertext for the same plaintext and context with a convergent key', () => {
    here().ok('transit keys create same --derived --convergent-encryption');
    const encrypt = (context: string) => here().ok(`transit encrypt same secret --context-text ${context}`);
    expect(encrypt('a')).toBe(encrypt('a'));
    expect(encrypt('a')).not.toBe(encrypt('b'));
  });

  it('authenticates associated data', () => {
    const ciphertext = here().ok('transit encrypt bound secret --associated-data-text row-17');
    expect(here().ok(`transit decrypt bound ${ciphertext} --associated-data ${base64('row-17')}`)).toBe(
      'secret',
    );
    here().refused(`transit decrypt bound ${ciphertext} --associated-data-text row-18`, 4);
  });

  it('encrypts with the version that is asked for, and rewraps to the latest without showing the plaintext', () => {
    here().ok('transit keys create versions');
    here().ok('transit keys rotate versions');
    const old = here().ok('transit encrypt versions secret --key-version 1');
    expect(old).toMatch(/^service:v1:/);
    expect(here().ok('transit encrypt versions secret')).toMatch(/^service:v2:/);
    const moved = here().ok('transit rewrap versions', { input: `${old}\n` });
    expect(moved).toMatch(/^service:v2:/);
    expect(here().ok(`transit decrypt versions ${moved}`)).toBe('secret');
    expect(here().refused('transit encrypt versions x --key-version 3', 2)).toContain('--key-version');
    here().ok('transit keys config versions --min-decryption-version 2');
    here().refused(`transit decrypt versions ${old}`, 2);
  });

  it('reads both prefixes', () => {
    const ciphertext = here().ok('transit encrypt prefixes secret');
    expect(here().ok(`transit decrypt prefixes ${ciphertext.replace('service:', 'vault:')}`)).toBe('secret');
  });

  it('makes data keys: with the plaintext, or wrapped alone', () => {
    here().ok('transit keys create wrapping');
    const made = here().json('transit datakey plaintext wrapping --bits 512') as Record<string, string>;
    expect(Buffer.from(made['plaintext'] ?? '', 'base64')).toHaveLength(64);
    expect(here().ok(`transit decrypt wrapping ${made['ciphertext']} --base64`)).toBe(made['plaintext']);
    const wrapped = here().json('transit datakey wrapped wrapping');
    expect(wrapped).not.toHaveProperty('plaintext');
    here().refused('transit datakey plaintext wrapping --bits 100', 2);
    here().refused('transit datakey naked wrapping', 2);
  });

  it('leaves the output file alone when decryption fails', () => {
    writeFileSync(here().file('kept'), 'old');
    const ciphertext = here().ok('transit encrypt kept secret');
    const altered = `${ciphertext.slice(0, -4)}AAA=`;
    here().refused(`transit decrypt kept ${altered} --out kept --force`, 4);
    expect(readFileSync(here().file('kept'), 'utf8')).toBe('old');
  });

  describe('bad input', () => {
    const sealed = (): string => here().ok('transit encrypt strict secret');
    const flipped = (ciphertext: string): string => {
      const bytes = Buffer.from(ciphertext.slice('service:v1:'.length), 'base64');
      bytes[20] = (bytes[20] ?? 0) ^ 1;
      return `service:v1:${bytes.toString('base64')}`;
    };

    it.each<[string, () => readonly string[], string]>([
      ['a ciphertext without a prefix', () => ['decrypt', 'strict', sealed().slice(11)], 'ciphertext'],
      [
        'a ciphertext with a bad version',
        () => ['decrypt', 'strict', sealed().replace('v1', 'vx')],
        'ciphertext',
      ],
      [
        'a ciphertext of a version to come',
        () => ['decrypt', 'strict', sealed().replace('v1', 'v9')],
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
    ])('refuses %s in one line that names it', (_, words, named) => {
      expect(here().refused(['transit', ...words()], 2)).toContain(named);
    });

    it.each([
      ['a truncated ciphertext', () => 'service:v1:AAAA'],
      ['a ciphertext with one bit altered', () => flipped(sealed())],
    ])('refuses %s as what is altered, in one line that names it', (_, ciphertext) => {
      expect(here().refused(['transit', 'decrypt', 'strict', ciphertext()], 4)).toContain('ciphertext');
    });

    it('refuses to decrypt with a key that there is not', () => {
      expect(here().refused(`transit decrypt nobody ${sealed()}`, 3)).toContain('nobody');
    });

    it('refuses input that is larger than can be handled at once, and says what to use', () => {
      const line = here().shell(`head -c ${300 * MEBI} /dev/zero | coffer transit encrypt strict`).stderr;
      expect(line).toMatch(/^coffer: [^\n]*envelope[^\n]*\n$/);
    });
  });
};
