import { createPublicKey, generateKeyPairSync } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { CofferError } from '../../../src/ground/errors.ts';
import { systemRandom } from '../../../src/ground/random.ts';
import { readBackup } from '../../../src/transit/backup/restore-key.ts';
import { rounds } from '../../long.ts';
import { goBackup, goDocument, goEntry, goJson, type Members, zeroEntry } from '../../reference/go-backup.ts';
import { rejectionOf } from '../../reference/thrown.ts';

const bytes = (length: number, fill = 1): string => Buffer.alloc(length, fill).toString('base64');
const aes = (members: Members = {}): Members => goEntry({ key: bytes(32), ...members });
const read = (document: unknown) => readBackup(goBackup(document), undefined, systemRandom);
const readText = (json: string) => readBackup(Buffer.from(json).toString('base64'), undefined, systemRandom);

const withPolicy = (members: Members, versions = [aes(), aes()]): Members => goDocument(versions, members);
const inconsistent = (text: string): string => `failed to restore the policy "orders": ${text}`;

describe('a backup whose versions do not fit each other', () => {
  it.each<[string, Members]>([
    ['minimum decryption version of -1 is less than 1', { min_decryption_version: -1 }],
    ['latest version of -5 is less than 1', { latest_version: -5 }],
    ['latest version of -9007199254740991 is less than 1', { latest_version: Number.MIN_SAFE_INTEGER }],
    ['archive version of 3 is greater than the latest version 2', { archive_version: 3 }],
    [
      'need to move keys from archive but archive version not up-to-date',
      { keys: { 2: aes() }, archive_version: 1, min_decryption_version: 1 },
    ],
    [
      'minimum decryption version of 2 is greater than minimum encryption version 1',
      { min_decryption_version: 2, min_encryption_version: 1 },
    ],
    [
      'minimum decryption version of 3 is greater than the latest version 2',
      { min_decryption_version: 3, keys: {} },
    ],
    ['min encryption version cannot be negative', { min_encryption_version: -1 }],
    ['cannot set min encryption version of 3, latest key version is 2', { min_encryption_version: 3 }],
    ['min decryption version should not be less then min available version', { min_available_version: 2 }],
    [
      'version 9007199254740991, the latest, is missing',
      { latest_version: Number.MAX_SAFE_INTEGER, archive_version: 1 },
    ],
    ['"0" is not a version from 1 to 2', { keys: { 0: aes(), 1: aes(), 2: aes() } }],
    ['"3" is not a version from 1 to 2', { keys: { 1: aes(), 2: aes(), 3: aes() } }],
    ['"-1" is not a version from 1 to 2', { keys: { '-1': aes(), 1: aes(), 2: aes() } }],
    ['"01" is not a version from 1 to 2', { keys: { '01': aes(), 2: aes() } }],
    ['"1e0" is not a version from 1 to 2', { keys: { '1e0': aes(), 2: aes() } }],
  ])('is refused: %s', async (text, policy) => {
    expect(await rejectionOf(read(withPolicy(policy)))).toMatchObject({
      kind: 'invalid',
      message: inconsistent(text),
      field: 'backup',
    });
  });

  it.each(['min_available_version', 'archive_min_version'])('is refused for a negative %s', async (name) => {
    expect(await rejectionOf(read(withPolicy({ [name]: -1 })))).toMatchObject({
      kind: 'invalid',
      message: inconsistent('minimum available version cannot be negative'),
      field: 'backup',
    });
  });

  it('is refused when the latest version is missing from ring and archive', async () => {
    const whole = goDocument([aes(), aes(), aes()], { keys: { 1: aes(), 2: aes() } });
    for (const keys of [
      null,
      [],
      [zeroEntry, aes(), aes()],
      [zeroEntry, aes(), aes(), zeroEntry],
      [zeroEntry, aes(), aes(), aes({ key: null, time: zeroEntry['time'], creation_time: 0 })],
    ]) {
      expect(await rejectionOf(read({ ...whole, archived_keys: { keys } }))).toMatchObject({
        message: inconsistent('version 3, the latest, is missing'),
      });
    }
  });

  it('is refused when one version claims to be the last of more than anybody could count', async () => {
    const number = 999_999_999_999_999;
    const counts = { keys: { [number]: aes() }, latest_version: number, min_decryption_version: number };
    const { policy } = withPolicy(counts);
    expect(await rejectionOf(read({ policy, archived_keys: null }))).toMatchObject({
      kind: 'invalid',
      message: inconsistent(`more than 100000 versions from 1 to ${number}`),
    });
  });

  it('is read with up to 100,000 versions from the first to the last', async () => {
    const lastOf = (number: number) => {
      const counts = { keys: { [number]: aes() }, latest_version: number, min_decryption_version: number };
      const { policy } = withPolicy(counts);
      return read({ policy, archived_keys: null });
    };
    expect(await lastOf(100_000)).toMatchObject({ latestVersion: 100_000 });
    expect(await rejectionOf(lastOf(100_001))).toMatchObject({
      message: inconsistent('more than 100000 versions from 1 to 100001'),
    });
  });

  it('is accepted without an archive; versions below the minimum are then gone', async () => {
    const whole = goDocument([aes(), aes(), aes()], { min_decryption_version: 2 });
    for (const archived_keys of [null, undefined, { keys: null }, { keys: [] }]) {
      const { policy } = whole;
      const key = await read(archived_keys === undefined ? { policy } : { policy, archived_keys });
      expect(Object.keys(key.versions)).toEqual(['2', '3']);
    }
  });

  it('prefers the ring to the archive, which may be older', async () => {
    const ring = aes({ creation_time: 7 });
    const key = await read(withPolicy({ keys: { 1: ring, 2: ring } }));
    expect(key.versions['2']?.createdAtSeconds).toBe(7);
  });
});

describe('a backup whose settings do not fit each other', () => {
  it.each<[string, Members]>([
    ['unknown key derivation function 2', { kdf: 2 }],
    ['convergent encryption requires derivation to be enabled', { convergent_encryption: true }],
    [
      'key derivation not supported for keys of type aes128-gcm96 in this mode',
      { type: 8, derived: true, kdf: 0 },
    ],
    [
      'key derivation not supported for keys of type ecdsa-p256 in this mode',
      { type: 1, derived: true, kdf: 1 },
    ],
    [
      'convergent encryption not supported for keys of type ed25519',
      { type: 2, derived: true, kdf: 1, convergent_encryption: true, convergent_version: -1 },
    ],
    [
      'convergent version 1 not supported for keys of type xchacha20-poly1305',
      { type: 11, derived: true, kdf: 1, convergent_encryption: true, convergent_version: 0 },
    ],
    [
      'unknown convergent version 9',
      { derived: true, kdf: 1, convergent_encryption: true, convergent_version: 9 },
    ],
    ['key size of -1 is out of range', { key_size: -1 }],
    ['key size of 513 is out of range', { type: 11, key_size: 513 }],
  ])('is refused: %s', async (text, policy) => {
    expect(await rejectionOf(read(withPolicy(policy)))).toMatchObject({
      kind: 'invalid',
      message: inconsistent(text),
    });
  });

  it.each([
    'no placeholder',
    '{{version}}{{version}}',
    '{{version}}',
    'k{{version}}7:',
    `${'k'.repeat(501)}{{version}}:`,
    '\x1b]0;{{version}}:',
  ])('is refused for the version template %j', async (version_template) => {
    expect(await rejectionOf(read(withPolicy({ version_template })))).toMatchObject({
      kind: 'invalid',
      message: inconsistent('error parsing version template'),
    });
  });

  it('is accepted with a version template of up to 512 characters', async () => {
    const versionTemplate = `${'k'.repeat(500)}{{version}}:`;
    expect(await read(withPolicy({ version_template: versionTemplate }))).toMatchObject({ versionTemplate });
  });

  it('is refused for a period of rotation of less than nothing', async () => {
    expect(await rejectionOf(read(withPolicy({ auto_rotate_period: -1 })))).toMatchObject({
      kind: 'invalid',
      message: inconsistent('auto rotate period is out of range'),
    });
  });

  it.each(['../x', 'a/../b', '..'])('is refused for the storage prefix %j', async (storage_prefix) => {
    expect(await rejectionOf(read(withPolicy({ storage_prefix })))).toMatchObject({
      kind: 'invalid',
      message: inconsistent('relative paths not supported'),
    });
  });
});

describe('a backup with a version that is convergent in an unknown way', () => {
  const odd = aes({ convergent_version: 9 });
  const convergent = { derived: true, kdf: 1, convergent_encryption: true, convergent_version: -1 };
  const whole = withPolicy({ ...convergent, min_decryption_version: 2 }, [aes(), aes()]);

  it.each<[string, Members]>([
    ['in the ring', withPolicy({ ...convergent, keys: { 1: aes(), 2: odd } })],
    ['in the archive alone', { ...whole, archived_keys: { keys: [zeroEntry, odd, aes()] } }],
  ])('is refused: %s', async (_, document) => {
    expect(await rejectionOf(read(document))).toMatchObject({
      kind: 'invalid',
      message: inconsistent('unknown convergent version 9'),
      field: 'backup',
    });
  });
});

describe('a backup of a type that is not here', () => {
  it.each<[string, Members]>([
    ['-1', { type: -1 }],
    ['15 (hybrid in Vault)', { type: 15 }],
    ['17 (slh-dsa in Vault)', { type: 17 }],
    ['10000 (external-key in OpenBao)', { type: 10_000 }],
    ['"aes256-gcm96"', { type: 'aes256-gcm96' }],
    ['"ml-dsa-45"', { type: 'ml-dsa-45' }],
  ])('is refused: %s', async (shown, policy) => {
    expect(await rejectionOf(read(withPolicy(policy)))).toMatchObject({
      kind: 'unsupported',
      message: `backup has the key type ${shown}, which is not supported`,
    });
  });

  it('is refused when the number means a managed key in Vault', async () => {
    const { external_key_ref: _, ...entry } = aes();
    const document = goDocument([entry], { type: 10 });
    const { soft_deleted: __, ...policy } = document['policy'] as Members;
    const archived_keys = { keys: [null, entry].map((value) => value ?? {}) };
    expect(await rejectionOf(read({ policy, archived_keys }))).toMatchObject({
      kind: 'unsupported',
      message: 'backup has the key type 10 (managed_key in Vault), which is not supported',
    });
  });

  it.each(['external_key_ref', 'managed_key_id'])(
    'is refused when %s says that the key is elsewhere',
    async (member) => {
      expect(await rejectionOf(read(goDocument([aes({ [member]: 'kms/1' })])))).toMatchObject({
        kind: 'unsupported',
        message: 'the backup contains a managed or external key',
      });
    },
  );
});

describe('a version that is no key of its type', () => {
  const p256 = generateKeyPairSync('ec', { namedCurve: 'prime256v1' }).privateKey.export({ format: 'jwk' });
  const number = (text: string | undefined): bigint =>
    BigInt(`0x${Buffer.from(text ?? '', 'base64url').toString('hex')}`);
  const seed = Buffer.alloc(32, 3);
  const ed25519Public = createPublicKey({
    key: Buffer.concat([Buffer.from('302e020100300506032b657004220420', 'hex'), seed]),
    format: 'der',
    type: 'pkcs8',
  } as never);

  it.each<[string, number, Members]>([
    ['invalid key size 0 bytes for key type aes256-gcm96', 0, { key: null }],
    ['invalid key size 31 bytes for key type aes256-gcm96', 0, { key: bytes(31) }],
    ['invalid key size 32 bytes for key type aes128-gcm96', 8, { key: bytes(32) }],
    ['invalid key size 16 bytes for key type chacha20-poly1305', 5, { key: bytes(16) }],
    ['invalid key size 16 bytes for key type xchacha20-poly1305', 11, { key: bytes(16) }],
    ['backup has no point of an elliptic curve', 1, { key: null }],
    ['backup has a point that is not on P-256', 1, { ec_x: number(p256.x), ec_y: number(p256.x) }],
    ['backup has a point that is not on P-384', 6, { ec_x: number(p256.x), ec_y: number(p256.y) }],
    ['backup has no RSA key', 3, { key: null }],
    ['backup has an RSA modulus that is not of 2048 bits', 3, { rsa_key: { N: 15, E: 3 } }],
    ['backup has no ed25519 key', 2, { key: null }],
    ['backup has an ed25519 key of the wrong length', 2, { key: bytes(32) }],
    [
      'backup cannot be restored: version 1: HMAC key of 31 bytes, not 32',
      0,
      { key: bytes(32), hmac_key: bytes(31) },
    ],
  ])('is refused: %s', async (message, type, members) => {
    const document = goDocument([goEntry(members)], { type });
    expect(await rejectionOf(read(document))).toMatchObject({ kind: 'invalid', message, field: 'backup' });
  });

  it.each<[string, Members]>([
    ['other half', { key: Buffer.concat([seed, Buffer.alloc(32)]).toString('base64') }],
    [
      'public key beside it',
      {
        key: Buffer.concat([
          seed,
          ed25519Public.export({ format: 'der', type: 'spki' }).subarray(-32),
        ]).toString('base64'),
        public_key: bytes(32),
      },
    ],
  ])('is refused when an ed25519 seed does not fit the %s', async (_, members) => {
    expect(await rejectionOf(read(goDocument([goEntry(members)], { type: 2 })))).toMatchObject({
      kind: 'invalid',
      message: 'backup has an ed25519 private key that does not match its public key',
      field: 'backup',
    });
  });

  it('is refused with certificates that cannot be read', async () => {
    const entry = goEntry({ ec_x: number(p256.x), ec_y: number(p256.y), certificate_chain: [bytes(40)] });
    expect(await rejectionOf(read(goDocument([entry], { type: 1 })))).toMatchObject({
      message: 'backup cannot be restored: version 1: could not parse a certificate in the certificate chain',
    });
  });
});

describe('a document of other shapes', () => {
  const unreadable = (place: string, wanted: string): string =>
    `backup cannot be read: ${place} is not ${wanted}`;

  it.each<[string, string]>([
    [unreadable('the document', 'an object'), '[]'],
    [unreadable('the document', 'an object'), 'null'],
    [unreadable('the document', 'an object'), '12'],
    [unreadable('policy', 'an object'), '{}'],
    [unreadable('policy', 'an object'), '{"policy":[]}'],
    [unreadable('archived_keys', 'an object'), '{"policy":{},"archived_keys":7}'],
    [unreadable('archived_keys.keys', 'an array'), '{"policy":{},"archived_keys":{"keys":{}}}'],
    [unreadable('archived_keys.keys.0', 'an object'), '{"policy":{},"archived_keys":{"keys":[1]}}'],
    [unreadable('policy.name', 'a string'), '{"policy":{"name":1}}'],
    [unreadable('policy.keys', 'an object'), '{"policy":{"keys":[]}}'],
    [unreadable('policy.latest_version', 'a whole number'), '{"policy":{"latest_version":1.5}}'],
    [unreadable('policy.latest_version', 'a whole number'), '{"policy":{"latest_version":1e2}}'],
    [unreadable('policy.latest_version', 'a whole number'), '{"policy":{"latest_version":"1"}}'],
    [
      unreadable('policy.latest_version', 'a whole number of at most 53 bits'),
      '{"policy":{"latest_version":99999999999999999999}}',
    ],
    [
      unreadable('policy.latest_version', 'a whole number of at most 53 bits'),
      '{"policy":{"latest_version":9007199254740992}}',
    ],
    [
      unreadable('policy.latest_version', 'a whole number of at most 53 bits'),
      '{"policy":{"latest_version":-9007199254740992}}',
    ],
    [unreadable('policy.derived', 'true or false'), '{"policy":{"derived":1}}'],
    [unreadable('policy.keys.1.key', 'base64'), '{"policy":{"keys":{"1":{"key":"YQ"}}}}'],
    [unreadable('policy.keys.1.key', 'base64'), '{"policy":{"keys":{"1":{"key":"-_-_"}}}}'],
    [
      unreadable('policy.keys.1.time', 'a time in the form of RFC 3339'),
      '{"policy":{"keys":{"1":{"time":"yesterday"}}}}',
    ],
    [unreadable('policy.keys.1.ec_x', 'a whole number'), '{"policy":{"keys":{"1":{"ec_x":"7"}}}}'],
    [
      unreadable('policy.keys.1.rsa_key.Primes.0', 'a whole number'),
      '{"policy":{"keys":{"1":{"rsa_key":{"Primes":[true]}}}}}',
    ],
    [
      unreadable('policy.keys.1.certificate_chain.0', 'base64'),
      '{"policy":{"keys":{"1":{"certificate_chain":[{}]}}}}',
    ],
    ['key name "" is not allowed', '{"policy":{}}'],
    ['invalid JSON', 'service:v1:AAAA'],
    ['unexpected end of JSON input', '{"policy":{"name":"orders"'],
  ])('is refused: %s, in %s', async (message, json) => {
    expect(await rejectionOf(readText(json))).toMatchObject({ kind: 'invalid', message, field: 'backup' });
  });

  it('of another program is refused without an echo of what it holds', async () => {
    const secrets = JSON.stringify({ kty: 'oct', k: 'c2VjcmV0LXNlY3JldA' });
    const error = (await rejectionOf(readText(secrets))) as CofferError;
    expect(`${error.message} ${error.hint}`).not.toContain('c2Vj');
  });

  it('is understood whatever the case of its names, with members that nobody knows and text after the end', async () => {
    const json = goJson(goDocument([aes()]))
      .replaceAll('"policy"', '"POLICY"')
      .replaceAll('"latest_version"', '"Latest_Version"')
      .replaceAll('"imported"', '"IMPORTED"')
      .replace('{', '{"novelty":{"deep":[1,2.5,null]},');
    expect(await readText(`${json}\n{"more":1} trailing`)).toMatchObject({
      name: 'orders',
      latestVersion: 1,
    });
  });
});

describe('any change of a good backup', () => {
  const good = goJson(goDocument([aes(), aes()], { min_decryption_version: 2 }));

  it('is read or refused, and never anything else', async () => {
    const change = fc.record({
      at: fc.nat(good.length - 1),
      cut: fc.nat(40),
      put: fc.oneof(
        fc.string({ maxLength: 8 }),
        fc.constantFrom('null', '-1', '1e9', '"x"', '{}', '[]', '9'.repeat(400), '{"a":', '}', ','),
      ),
    });
    await fc.assert(
      fc.asyncProperty(change, async ({ at, cut, put }) => {
        const outcome = await readText(good.slice(0, at) + put + good.slice(at + cut)).catch(
          (error: unknown) => error,
        );
        if (outcome instanceof Error) expect(outcome).toBeInstanceOf(CofferError);
      }),
      { numRuns: rounds(600) },
    );
  });
});
