import { describe, expect, it } from 'vitest';
import { systemRandom } from '../../src/ground/random.ts';
import { onlyValue } from '../../src/transit/batch.ts';
import { dataKey } from '../../src/transit/data-key.ts';
import { decrypt } from '../../src/transit/decrypt.ts';
import { encrypt } from '../../src/transit/encrypt.ts';
import { type Engine, engineOf } from '../../src/transit/engine.ts';
import { hmac } from '../../src/transit/hmac.ts';
import type { NamedKeyDocument } from '../../src/transit/key-document.ts';
import { findKey } from '../../src/transit/named-key.ts';
import { rotateDueKeys, rotateKey } from '../../src/transit/rotation.ts';
import { rejectionOf } from '../reference/thrown.ts';
import { memoryStore } from '../store/memory-store.ts';
import { freshEngine } from './fresh-engine.ts';
import { KEY_32, knownKey, knownVersion, storeKey } from './known-key.ts';

const plain = knownKey('aes256-gcm96', [knownVersion(KEY_32)]);
const UPDATE = { type: 'aes256-gcm96', convergentEncryption: false, mayCreate: false, mayUpdate: true };

async function engineWith(document: NamedKeyDocument, dialect: 'service' | 'vault' = 'service') {
  const engine = await freshEngine(dialect);
  await storeKey(engine, document);
  return engine;
}

describe('rotating a key', () => {
  it('adds a version with a key of its own, and keeps the others', async () => {
    const { document } = await rotateKey(await engineWith(plain), 'known', false);
    expect(document.latestVersion).toBe(2);
    expect(document.versions['1']).toEqual(plain.versions['1']);
    expect(document.versions['2']?.secret).not.toBe(plain.versions['1']?.secret);
    expect(document.versions['2']?.hmacKey).not.toBe(plain.versions['1']?.hmacKey);
    expect(document.versions['2']?.createdAt).toBe('2026-03-01T08:00:00.5Z');
  });

  it('loses no version when many ask at once', async () => {
    const engine = await engineWith(plain);
    await Promise.all(Array.from({ length: 12 }, () => rotateKey(engine, 'known', false)));
    const after = (await findKey(engine, 'known'))?.document;
    expect(after?.latestVersion).toBe(13);
    expect(Object.keys(after?.versions ?? {})).toHaveLength(13);
  });

  it.each([
    [-1, 3],
    [2, 3],
    [1, 0],
    [0, 0],
  ])('of a convergent key recorded as %i records %i', async (convergentVersion, recorded) => {
    const key = { ...plain, derived: true, convergentEncryption: true, convergentVersion };
    const { document } = await rotateKey(await engineWith(key), 'known', false);
    expect(document).toMatchObject({ convergentVersion, versions: { 2: { convergentVersion: recorded } } });
  });

  it('records nothing in a key that is not convergent', async () => {
    // Old Vaults wrote 2 here for keys that are merely derived.
    const key = { ...plain, derived: true, convergentVersion: 2 };
    const { document } = await rotateKey(await engineWith(key), 'known', false);
    expect(document.versions['2']?.convergentVersion).toBe(0);
  });

  it('needs force for a key that only signs, and the refusal says so', async () => {
    const engine = await engineWith(knownKey('ecdsa-p256', [knownVersion(KEY_32)]));
    expect(await rejectionOf(rotateKey(engine, 'known', false))).toMatchObject({
      kind: 'unsupported',
      message: 'rotation is only supported for keys that encrypt and decrypt; ecdsa-p256 does not',
      hint: expect.stringContaining('--force'),
    });
    expect((await rotateKey(engine, 'known', true)).document.latestVersion).toBe(2);
  });

  it('needs no force in the dialect of Vault', async () => {
    const engine = await engineWith(knownKey('ecdsa-p256', [knownVersion(KEY_32)]), 'vault');
    expect((await rotateKey(engine, 'known', false)).document.latestVersion).toBe(2);
  });

  it('makes an imported key one of ours, if its import allowed that', async () => {
    const imported = { ...plain, imported: true };
    expect(await rejectionOf(rotateKey(await engineWith(imported), 'known', false))).toMatchObject({
      kind: 'unsupported',
      message: 'imported key known does not allow rotation within Vault',
    });
    const engine = await engineWith({ ...imported, allowImportedKeyRotation: true });
    expect((await rotateKey(engine, 'known', false)).document.imported).toBe(false);
  });

  it('keeps no writer waiting while key material that takes long is made', async () => {
    const engine = await engineWith(knownKey('rsa-2048', [knownVersion(KEY_32)]));
    const order: string[] = [];
    await Promise.all([
      rotateKey(engine, 'known', true).then(() => order.push('rotated')),
      storeKey(engine, { ...plain, name: 'other' }).then(() => order.push('written')),
    ]);
    expect(order).toEqual(['written', 'rotated']);
    expect((await findKey(engine, 'known'))?.document.latestVersion).toBe(2);
  });

  it('makes what the key wants that is there in the end, when it was replaced meanwhile', async () => {
    const engine = await engineWith(knownKey('rsa-2048', [knownVersion(KEY_32)]));
    const [{ document }] = await Promise.all([rotateKey(engine, 'known', true), storeKey(engine, plain)]);
    expect(document).toMatchObject({ type: 'aes256-gcm96', latestVersion: 2 });
    expect(Buffer.from(document.versions['2']?.secret ?? '', 'base64')).toHaveLength(32);
  });

  it('is refused for a soft-deleted key, and a name that no key has', async () => {
    const engine = await engineWith({ ...plain, softDeleted: true });
    expect(await rejectionOf(rotateKey(engine, 'known', false))).toMatchObject({
      kind: 'conflict',
      message: 'refusing to use soft-deleted key',
    });
    expect(await rejectionOf(rotateKey(engine, 'nobody', false))).toMatchObject({
      kind: 'not-found',
      message: 'key not found',
    });
  });
});

describe('a key with a period', () => {
  const CREATED_MS = 1_770_114_030_000;
  const HOUR_MS = 3_600_000;
  const hourly = { ...plain, autoRotatePeriodSeconds: 3600 };

  /** An engine on whose clock so many hours have passed since the key was made. */
  async function hoursLater(hours: number, document: NamedKeyDocument) {
    const clock = { now: () => CREATED_MS + hours * HOUR_MS };
    const mount = {
      type: 'transit',
      path: 'transit',
      description: '',
      accessor: '',
      uuid: 'test',
      options: {},
    };
    const engine: Engine = engineOf({
      dialect: 'service',
      store: await memoryStore({ clock }),
      clock,
      random: systemRandom,
      mount,
    });
    await storeKey(engine, document);
    return engine;
  }

  const latest = async (engine: Engine) => (await findKey(engine, 'known'))?.document.latestVersion;

  it('is rotated by its first use after that', async () => {
    const engine = await hoursLater(1, hourly);
    const [result] = await encrypt(engine, 'known', [{ plaintext: 'AAAA' }], UPDATE);
    expect(result).toMatchObject({ value: { keyVersion: 2 } });
    await encrypt(engine, 'known', [{ plaintext: 'AAAA' }], UPDATE);
    expect(await latest(engine)).toBe(2);
  });

  it('is rotated once, however late, and however many use it at once', async () => {
    const engine = await hoursLater(1000, hourly);
    const results = await Promise.all(
      Array.from({ length: 12 }, () => encrypt(engine, 'known', [{ plaintext: 'AAAA' }], UPDATE)),
    );
    expect(results.map((items) => onlyValue(items).keyVersion)).toEqual(Array(12).fill(2));
    expect(await latest(engine)).toBe(2);
  });

  it.each([
    ['before its time', 0.99, hourly],
    ['without a period', 1000, plain],
    ['when it is imported and may not be', 1000, { ...hourly, imported: true }],
  ])('is not rotated %s', async (_, hours, document) => {
    const engine = await hoursLater(hours, document);
    await encrypt(engine, 'known', [{ plaintext: 'AAAA' }], UPDATE);
    expect(await latest(engine)).toBe(1);
  });

  it('is not rotated while it is soft-deleted, neither by a server nor by its use, and is once it is back', async () => {
    const engine = await hoursLater(1000, { ...hourly, softDeleted: true });
    expect(await rotateDueKeys(engine)).toEqual([]);
    expect(await latest(engine)).toBe(1);
    await storeKey(engine, hourly);
    expect(await rotateDueKeys(engine)).toEqual(['known']);
  });

  it('is rotated when it is imported, if its import allowed that', async () => {
    const engine = await hoursLater(1, { ...hourly, imported: true, allowImportedKeyRotation: true });
    expect(await rotateDueKeys(engine)).toEqual(['known']);
    expect(await latest(engine)).toBe(2);
  });

  it('is not rotated by reading', async () => {
    const engine = await hoursLater(1000, hourly);
    await decrypt(engine, 'known', [{ ciphertext: 'vault:v1:AAAA' }]);
    expect(await latest(engine)).toBe(1);
  });

  it('is rotated by whatever makes something new', async () => {
    const uses = [
      (engine: Engine) => dataKey(engine, 'known', { withPlaintext: false, bits: 128 }),
      (engine: Engine) => hmac(engine, 'known', [{ input: '' }], { algorithm: 'sha2-256', keyVersion: 0 }),
    ];
    for (const use of uses) {
      const engine = await hoursLater(1, hourly);
      await use(engine);
      expect(await latest(engine)).toBe(2);
    }
  });

  it('is rotated by a server though nobody uses it, whatever its type', async () => {
    const engine = await hoursLater(2, {
      ...knownKey('ed25519', [knownVersion(KEY_32)]),
      autoRotatePeriodSeconds: 3600,
    });
    await storeKey(engine, { ...plain, name: 'other' });
    expect(await rotateDueKeys(engine)).toEqual(['known']);
    expect(await rotateDueKeys(engine)).toEqual([]);
    expect(await latest(engine)).toBe(2);
  });

  it('is rotated though another key cannot even be opened, of which the server hears', async () => {
    const engine = await hoursLater(2, hourly);
    await storeKey(engine, { ...plain, name: 'a', type: 'rot13' });
    expect(await rejectionOf(rotateDueKeys(engine))).toMatchObject({
      kind: 'corrupt',
      message: 'key "a" has the unknown type rot13',
    });
    expect(await latest(engine)).toBe(2);
  });
});
