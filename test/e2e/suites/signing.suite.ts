import { createHash, createHmac } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { base64 } from '../harness.ts';
import type { Suite } from './index.ts';

export const signingSuite: Suite = (here) => {
  it.each([
    ['sha2-256', 'sha256'],
    ['sha2-512', 'sha512'],
    ['sha3-384', 'sha3-384'],
  ])('hashes with %s as everybody does', async (algorithm, openssl) => {
    const expected = createHash(openssl).update('abc');
    expect(await here().ok(`transit hash abc --algorithm ${algorithm}`)).toBe(expected.copy().digest('hex'));
    expect(await here().ok(`transit hash abc --algorithm ${algorithm} --format base64`)).toBe(
      expected.digest('base64'),
    );
  });

  it('hashes the empty input, and refuses a hash that there is not', async () => {
    // The first value of FIPS 180-4's examples for the empty message.
    const empty = 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855';
    expect(await here().ok('transit hash')).toBe(empty);
    expect(await here().refused('transit hash abc --algorithm md5', 2)).toContain('md5');
  });

  it('prints as many random bytes as asked for', async () => {
    expect(Buffer.from(await here().ok('transit random'), 'base64')).toHaveLength(32);
    expect(await here().ok('transit random 5 --format hex')).toMatch(/^[0-9a-f]{10}$/);
    expect(await here().ok('transit random 16')).not.toBe(await here().ok('transit random 16'));
    for (const bytes of ['0', '-1', 'many', '1e12'])
      await here().refused(['transit', 'random', '--', bytes], 2);
  });

  it('makes HMACs with the key itself, and verifies them', async () => {
    await here().ok('transit keys create mac --type aes256-gcm96 --exportable');
    const hmac = await here().ok('transit hmac mac message');
    const exported = (await here().json('transit keys export mac --key-type hmac-key')) as {
      keys: Record<string, string>;
    };
    const key = Buffer.from(exported.keys['1'] ?? '', 'base64');
    expect(hmac).toBe(`service:v1:${createHmac('sha256', key).update('message').digest('base64')}`);
    expect(await here().ok(`transit verify mac message --hmac ${hmac}`)).toBe('true');
    expect(await here().run(`transit verify mac massage --hmac ${hmac}`)).toMatchObject({
      exitCode: 5,
      stdout: 'false\n',
    });
  });

  it.each([
    ['ed25519', []],
    ['ecdsa-p256', []],
    ['ecdsa-p384', ['--hash-algorithm', 'sha2-384']],
    ['ecdsa-p521', ['--marshaling-algorithm', 'jws']],
    ['rsa-2048', []],
    ['rsa-2048', ['--signature-algorithm', 'pkcs1v15', '--hash-algorithm', 'sha2-512']],
    ['rsa-2048', ['--salt-length', 'hash']],
  ])('signs with %s and %j, and tells a valid signature from one that is not', async (type, options) => {
    const name = `sign-${type}`;
    await here().ok(`transit keys create ${name} --type ${type}`);
    writeFileSync(here().file('document'), 'what was signed');
    const signature = await here().ok(['transit', 'sign', name, '--in', 'document', ...options]);
    expect(signature).toMatch(/^service:v1:/);
    const verify = (text: string) =>
      here().run(['transit', 'verify', name, text, '--signature', signature, ...options]);
    expect(await verify('what was signed')).toMatchObject({ exitCode: 0, stdout: 'true\n', stderr: '' });
    writeFileSync(here().file('document.signature'), `${signature}\n`);
    const inFile = [
      'transit',
      'verify',
      name,
      '--in',
      'document',
      '--signature',
      '@document.signature',
      ...options,
    ];
    expect(await here().ok(inFile)).toBe('true');
    expect(await verify('what was not')).toMatchObject({ exitCode: 5, stdout: 'false\n', stderr: '' });
    expect(
      await here().json(['transit', 'verify', name, 'what was signed', '--signature', signature, ...options]),
    ).toEqual({
      valid: true,
    });
  });

  it.each(['ed25519', 'ecdsa-p256'])(
    'tells a signature of another marshaling from one that is malformed: %s',
    async (type) => {
      const name = `marshaled-${type}`;
      await here().ok(`transit keys create ${name} --type ${type}`);
      const signature = await here().ok(`transit sign ${name} text --marshaling-algorithm jws`);
      const verify = (text: string) => here().run(`transit verify ${name} text --signature ${text}`);
      expect(await verify(signature)).toMatchObject({ exitCode: 5, stdout: 'false\n', stderr: '' });
      expect(await verify(signature.slice(0, -20))).toMatchObject({ exitCode: 2, stdout: '' });
    },
  );

  it('signs a digest that was made elsewhere', async () => {
    await here().ok('transit keys create digests --type rsa-2048');
    const digest = createHash('sha256').update('document').digest('base64');
    const signature = await here().ok(`transit sign digests ${digest} --base64 --prehashed`);
    expect(await here().ok(`transit verify digests document --signature ${signature}`)).toBe('true');
  });

  it('signs with keys derived from a context, and shows their public key', async () => {
    await here().ok('transit keys create contexts --type ed25519 --derived');
    const signed = (await here().json('transit sign contexts text --context-text a')) as Record<
      string,
      string
    >;
    expect(Buffer.from(signed['public_key'] ?? '', 'base64')).toHaveLength(32);
    const verify = async (context: string) =>
      (
        await here().run(
          `transit verify contexts text --signature ${signed['signature']} --context-text ${context}`,
        )
      ).exitCode;
    expect([await verify('a'), await verify('b')]).toEqual([0, 5]);
  });

  describe('bad input', () => {
    it.each([
      ['a signature without a prefix', ['verify', 'sign-ed25519', 'x', '--signature', 'AAAA']],
      ['neither a signature nor an HMAC', ['verify', 'sign-ed25519', 'x']],
      [
        'both of them',
        ['verify', 'sign-ed25519', 'x', '--signature', 'service:v1:', '--hmac', 'service:v1:'],
      ],
      ['a hash that there is not', ['sign', 'sign-ed25519', 'x', '--hash-algorithm', 'md5']],
      ['an algorithm that there is not', ['sign', 'sign-rsa-2048', 'x', '--signature-algorithm', 'rot13']],
      ['an input that is not base64', ['sign', 'sign-ed25519', 'n!t', '--base64']],
      ['a key that cannot sign', ['sign', 'mac', 'x']],
      ['a digest of the wrong length', ['sign', 'sign-rsa-2048', base64('short'), '--base64', '--prehashed']],
    ])('refuses %s', async (_, words) => {
      await here().refused(['transit', ...words], 2);
    });
  });
};
