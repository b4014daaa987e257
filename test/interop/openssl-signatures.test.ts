import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { decrypt } from '../../src/transit/decrypt.ts';
import { encrypt } from '../../src/transit/encrypt.ts';
import type { Engine } from '../../src/transit/engine.ts';
import { keyTypeNames } from '../../src/transit/key-types/index.ts';
import { createKey } from '../../src/transit/lifecycle.ts';
import type { SignatureRequest } from '../../src/transit/signing.ts';
import { isLong } from '../long.ts';
import { freshEngine } from '../transit/fresh-engine.ts';
import { accepts, exportedPem, newKey, signed } from './transit-calls.ts';

/** Signatures in both directions between this program and the `openssl` command. */

const message = Buffer.from('the quick brown fox');
let directory: string;
let engine: Engine;

const file = (name: string): string => join(directory, name);

/** Whether the command succeeds. */
const openssl = (...words: string[]): boolean => eachOpenssl(words)[0] === true;

/**
 * Whether each of some commands succeeds. By one shell for all of them: a new process costs that of the tests, which is large, more than OpenSSL
 * takes.
 */
function eachOpenssl(...commands: readonly (readonly string[])[]): readonly boolean[] {
  const lines = commands.map((words) => {
    const quoted = words.map((word) => `'${word}'`).join(' ');
    return `openssl ${quoted} > ${file('output')} 2>&1; echo $?`;
  });
  const codes = execFileSync('sh', ['-c', lines.join('\n')], { encoding: 'utf8', stdio: 'pipe' });
  return codes
    .trimEnd()
    .split('\n')
    .map((code) => code === '0');
}

/** A key that is made here, and its halves as files for OpenSSL. */
async function keyFor(type: string): Promise<string> {
  await createKey(engine, type, newKey(type));
  writeFileSync(file(`${type}.pem`), await exportedPem(engine, type, 'signing-key'));
  writeFileSync(file(`${type}.pub`), await exportedPem(engine, type, 'public-key'));
  return type;
}

const ecdsaTypes = keyTypeNames().filter((type) => type.startsWith('ecdsa-'));
/** Larger keys take seconds to be found. */
const rsaTypes = ['rsa-2048', ...(isLong ? ['rsa-3072', 'rsa-4096'] : [])];
const types = [...ecdsaTypes, ...rsaTypes, 'ed25519'];

beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'coffer-openssl-'));
  engine = await freshEngine();
  writeFileSync(file('message'), message);
  writeFileSync(file('other'), 'another message');
  for (const type of types) await keyFor(type);
});
afterAll(() => rmSync(directory, { recursive: true, force: true }));

const HASHES: Record<string, string> = {
  sha1: 'sha1',
  'sha2-224': 'sha224',
  'sha2-256': 'sha256',
  'sha2-384': 'sha384',
  'sha2-512': 'sha512',
  'sha3-224': 'sha3-224',
  'sha3-256': 'sha3-256',
  'sha3-384': 'sha3-384',
  'sha3-512': 'sha3-512',
};

/** OpenSSL's options for what a request asks for. */
const sigopts = (options: readonly string[]): string[] => options.flatMap((option) => ['-sigopt', option]);
const pkeyopts = (options: readonly string[]): string[] => options.flatMap((option) => ['-pkeyopt', option]);

/** Signs the message on one side and verifies it on the other, and the other way round. */
async function agree(
  type: string,
  hash: string,
  request: Partial<SignatureRequest>,
  signOptions: readonly string[],
  verifyOptions = signOptions,
): Promise<void> {
  const named = { ...request, hashAlgorithm: hash };
  const digest = `-${HASHES[hash]}`;
  writeFileSync(file('ours'), await signed(engine, type, message, named));
  const check = (what: string): readonly string[] => [
    'dgst',
    digest,
    ...sigopts(verifyOptions),
    '-verify',
    file(`${type}.pub`),
    '-signature',
    file('ours'),
    file(what),
  ];
  const sign = [
    'dgst',
    digest,
    ...sigopts(signOptions),
    '-sign',
    file(`${type}.pem`),
    '-out',
    file('theirs'),
    file('message'),
  ];
  expect(eachOpenssl(check('message'), check('other'), sign)).toEqual([true, false, true]);
  const theirs = readFileSync(file('theirs'));
  expect(await accepts(engine, type, message, theirs, named)).toBe(true);
  expect(await accepts(engine, type, Buffer.from('another message'), theirs, named)).toBe(false);
}

/** The same with digests that the callers make. */
async function agreeOnDigests(
  type: string,
  hash: string,
  request: Partial<SignatureRequest>,
  options: readonly string[],
): Promise<void> {
  const named = { ...request, hashAlgorithm: hash, prehashed: true };
  const digest = createHash(HASHES[hash] ?? '')
    .update(message)
    .digest();
  writeFileSync(file('digest'), digest);
  writeFileSync(file('ours'), await signed(engine, type, digest, named));
  const opensslOptions = pkeyopts(options);
  const verify = [
    'pkeyutl',
    '-verify',
    '-pubin',
    '-inkey',
    file(`${type}.pub`),
    '-in',
    file('digest'),
    '-sigfile',
    file('ours'),
    ...opensslOptions,
  ];
  const sign = [
    'pkeyutl',
    '-sign',
    '-inkey',
    file(`${type}.pem`),
    '-in',
    file('digest'),
    '-out',
    file('theirs'),
    ...opensslOptions,
  ];
  expect(eachOpenssl(verify, sign)).toEqual([true, true]);
  const theirs = readFileSync(file('theirs'));
  expect(await accepts(engine, type, digest, theirs, named)).toBe(true);
  expect(await accepts(engine, type, message, theirs, { ...named, prehashed: false })).toBe(true);
}

describe.each(ecdsaTypes)('%s and openssl', (type) => {
  it.each(Object.keys(HASHES))('agree on signatures with %s', async (hash) => {
    await agree(type, hash, {}, []);
  });

  it.each(['sha1', 'sha2-256', 'sha2-512', 'sha3-384'])(
    'agree on signatures of digests made with %s',
    async (hash) => {
      await agreeOnDigests(type, hash, {}, []);
    },
  );
});

const rsaHashes: Readonly<Record<string, readonly string[]>> = {
  'rsa-3072': ['sha2-256', 'sha3-512'],
  'rsa-4096': ['sha2-512', 'sha3-256'],
};

describe.each(rsaTypes)('%s and openssl', (type) => {
  const hashes = rsaHashes[type] ?? Object.keys(HASHES);

  it.each(hashes)('agree on PKCS#1 v1.5 with %s', async (hash) => {
    await agree(type, hash, { signatureAlgorithm: 'pkcs1v15' }, []);
    await agreeOnDigests(type, hash, { signatureAlgorithm: 'pkcs1v15' }, [`digest:${HASHES[hash]}`]);
  });

  it.each([
    ['auto', 'max'],
    ['auto', 'auto'],
    ['hash', 'digest'],
    ['0', 'max'],
    ['-1', 'digest'],
    ['1', '1'],
    ['20', '20'],
    ['32', '32'],
  ])('agree on PSS with salt_length %s (openssl: %s)', async (saltLength, theirs) => {
    const request = { signatureAlgorithm: 'pss', saltLength };
    const options = ['rsa_padding_mode:pss', `rsa_pss_saltlen:${theirs}`];
    await agree(type, 'sha2-256', request, options);
    await agreeOnDigests(type, 'sha2-256', request, [...options, 'digest:sha256']);
  });

  it.each(hashes)('agree on PSS with %s', async (hash) => {
    await agree(type, hash, {}, ['rsa_padding_mode:pss', 'rsa_pss_saltlen:max']);
    const digest = `digest:${HASHES[hash]}`;
    await agreeOnDigests(type, hash, {}, ['rsa_padding_mode:pss', 'rsa_pss_saltlen:max', digest]);
  });

  it('do not take a salt of another length for the one that was asked for', async () => {
    const pss = ['-sigopt', 'rsa_padding_mode:pss', '-sigopt', 'rsa_pss_saltlen:20'];
    openssl('dgst', '-sha256', ...pss, '-sign', file(`${type}.pem`), '-out', file('theirs'), file('message'));
    const theirs = readFileSync(file('theirs'));
    for (const [saltLength, valid] of [
      ['auto', true],
      ['20', true],
      ['21', false],
      ['hash', false],
    ] as const) {
      expect(await accepts(engine, type, message, theirs, { saltLength })).toBe(valid);
      expect(
        await accepts(engine, type, message, theirs, { saltLength, signatureAlgorithm: 'pkcs1v15' }),
      ).toBe(false);
    }
  });

  it('agree on bytes that are padded without a named hash', async () => {
    const request = { hashAlgorithm: 'none', prehashed: true, signatureAlgorithm: 'pkcs1v15' };
    writeFileSync(file('ours'), await signed(engine, type, message, request));
    const inkey = ['-inkey', file(`${type}.pem`), '-in', file('message')];
    expect(openssl('pkeyutl', '-verify', ...inkey, '-sigfile', file('ours'))).toBe(true);
    expect(openssl('pkeyutl', '-sign', ...inkey, '-out', file('theirs'))).toBe(true);
    expect(await accepts(engine, type, message, readFileSync(file('theirs')), request)).toBe(true);
  });
});

describe('ed25519 and openssl', () => {
  it('agree, and make the same bytes', async () => {
    const ours = await signed(engine, 'ed25519', message);
    writeFileSync(file('ours'), ours);
    const raw = ['-rawin', '-in', file('message')];
    expect(openssl('pkeyutl', '-sign', '-inkey', file('ed25519.pem'), ...raw, '-out', file('theirs'))).toBe(
      true,
    );
    expect(readFileSync(file('theirs'))).toEqual(ours);
    const verify = [
      'pkeyutl',
      '-verify',
      '-pubin',
      '-inkey',
      file('ed25519.pub'),
      '-sigfile',
      file('ours'),
      '-rawin',
    ];
    expect(openssl(...verify, '-in', file('message'))).toBe(true);
    expect(openssl(...verify, '-in', file('other'))).toBe(false);
    expect(await accepts(engine, 'ed25519', message, ours)).toBe(true);
  });
});

describe('RSA encryption and openssl', () => {
  const oaep = ['rsa_padding_mode:oaep', 'rsa_oaep_md:sha256', 'rsa_mgf1_md:sha256'].flatMap((option) => [
    '-pkeyopt',
    option,
  ]);

  it.each(rsaTypes)('agree on ciphertexts with %s', async (type) => {
    expect(
      openssl(
        'pkeyutl',
        '-encrypt',
        '-pubin',
        '-inkey',
        file(`${type}.pub`),
        ...oaep,
        '-in',
        file('message'),
        '-out',
        file('sealed'),
      ),
    ).toBe(true);
    const ciphertext = `service:v1:${readFileSync(file('sealed')).toString('base64')}`;
    const [decrypted] = await decrypt(engine, type, [{ ciphertext }]);
    expect(decrypted).toEqual({ value: message });
    const options = { type, convergentEncryption: false, mayCreate: false, mayUpdate: true };
    const [encrypted] = await encrypt(engine, type, [{ plaintext: message.toString('base64') }], options);
    if (encrypted === undefined || 'error' in encrypted) return expect.fail('not encrypted');
    writeFileSync(file('ours'), Buffer.from(encrypted.value.ciphertext.split(':')[2] ?? '', 'base64'));
    expect(
      openssl(
        'pkeyutl',
        '-decrypt',
        '-inkey',
        file(`${type}.pem`),
        ...oaep,
        '-in',
        file('ours'),
        '-out',
        file('opened'),
      ),
    ).toBe(true);
    expect(readFileSync(file('opened'))).toEqual(message);
  });
});
