import { createDecipheriv, createPublicKey, generateKeyPairSync } from 'node:crypto';
import { beforeAll, describe, expect, it } from 'vitest';
import { CONTEXT, ED25519_KEY, ED25519_SIGNATURE, FOX, KEY } from '../../../operations/transit/vectors.ts';
import { goBackup, goDocument, goEntry } from '../../../reference/go-backup.ts';
import { nssPkcs8, wrappedUnder } from '../../../reference/incoming-keys.ts';
import { cleanUpAfterAll, send, startServer, type TestServer } from '../../../servers/serving.ts';

/** What clients of the family met where this server once answered otherwise than OpenBao. */

let server: TestServer;
const afterwards = cleanUpAfterAll();
beforeAll(async () => {
  server = await startServer({}, afterwards);
});

const call = (method: string, path: string, body?: object) =>
  send(server.address, method, `/v1/transit/${path}`, { token: server.token, body });

async function wrapped(target: Uint8Array): Promise<string> {
  const { json } = await call('GET', 'wrapping_key');
  return wrappedUnder(createPublicKey(json.data.public_key), target);
}

describe('a parameter that is null or empty', () => {
  it('leaves the period of rotation as it is when it is the period', async () => {
    await call('POST', 'keys/periodic', { auto_rotate_period: '24h' });
    const { json } = await call('POST', 'keys/periodic/config', { auto_rotate_period: null });
    expect(json.data.auto_rotate_period).toBe(86_400);
    const off = await call('POST', 'keys/periodic/config', { auto_rotate_period: '' });
    expect(off.json.data.auto_rotate_period).toBe(0);
  });

  it.each(['', null])('is no source of random bytes other than the usual one: %j', async (source) => {
    const { status, json } = await call('POST', 'random/16', { source });
    expect([status, Buffer.from(json.data.random_bytes, 'base64').length]).toEqual([200, 16]);
  });

  it.each([
    { algorithm: '' },
    { algorithm: null },
    { algorithm: '', hash_algorithm: '' },
    { algorithm: '', hash_algorithm: 'sha2-256' },
  ])('means the usual hash of a signature: %j', async (hash) => {
    await call('POST', 'keys/signing', { type: 'ecdsa-p256' });
    const signed = await call('POST', 'sign/signing', { input: FOX, ...hash });
    expect(signed.status).toBe(200);
    const { signature } = signed.json.data;
    for (const named of [hash, { hash_algorithm: 'sha2-256' }]) {
      const { json } = await call('POST', 'verify/signing', { input: FOX, signature, ...named });
      expect(json.data).toEqual({ valid: true });
    }
  });
});

describe('a yes or no', () => {
  it.each([{ exportable: -1 }, { derived: 1.5 }, { exportable: 'yes' }, { derived: 2 }])(
    'is refused when it is something else: %j',
    async (setting) => {
      const { status, json } = await call('POST', 'keys/undecided', setting);
      expect([status, json.errors[0]]).toEqual([
        400,
        expect.stringContaining(`error converting input for field "${Object.keys(setting)[0]}"`),
      ]);
      expect((await call('GET', 'keys/undecided')).status).toBe(404);
    },
  );

  it.each([
    [1, true],
    ['1', true],
    ['T', true],
    [0, false],
    ['', false],
  ])('may be %j', async (exportable, expected) => {
    const { json } = await call('POST', `keys/decided-${typeof exportable}${exportable}`, { exportable });
    expect(json.data.exportable).toBe(expected);
  });
});

describe('a key from outside', () => {
  it('is taken from an RSA-PSS file of OpenSSL', async () => {
    const { privateKey } = generateKeyPairSync('rsa-pss', { modulusLength: 2048 });
    const target = privateKey.export({ format: 'der', type: 'pkcs8' });
    const ciphertext = await wrapped(target);
    const imported = await call('POST', 'keys/from-pss/import', { type: 'rsa-2048', ciphertext });
    expect([imported.status, imported.text]).toEqual([204, '']);
    const { json } = await call('POST', 'sign/from-pss', { input: FOX });
    const verdict = await call('POST', 'verify/from-pss', { input: FOX, signature: json.data.signature });
    expect(verdict.json.data.valid).toBe(true);
  });

  it('is taken from a database of NSS', async () => {
    const ciphertext = await wrapped(nssPkcs8(Buffer.from(KEY, 'base64')));
    expect((await call('POST', 'keys/from-nss/import', { type: 'ed25519', ciphertext })).status).toBe(204);
    const { json } = await call('POST', 'sign/from-nss', { input: FOX });
    expect(json.data.signature.split(':')[2]).toBe(ED25519_SIGNATURE.split(':')[2]);
  });

  it('gives contexts the keys that it gives them in OpenBao', async () => {
    const ciphertext = await wrapped(Buffer.from(KEY, 'base64'));
    await call('POST', 'keys/from-outside/import', { derived: true, ciphertext });
    expect((await call('GET', 'keys/from-outside')).json.data).toMatchObject({
      kdf: 'hmac-sha256-counter',
      kdf_mode: 'hmac-sha256-counter',
    });
    const { json } = await call('POST', 'encrypt/from-outside', { plaintext: FOX, context: CONTEXT });
    const payload = Buffer.from(json.data.ciphertext.split(':')[2], 'base64');
    // NIST SP 800-108 in counter mode, computed with the cryptography package of Python.
    const key = Buffer.from('ccc7f29489db3c07f210b4e50bfe8b66a25a27c04c669500e3223ec9c2851788', 'hex');
    const decipher = createDecipheriv('aes-256-gcm', key, payload.subarray(0, 12), { authTagLength: 16 });
    decipher.setAuthTag(payload.subarray(-16));
    expect(decipher.update(payload.subarray(12, -16)).toString('base64')).toBe(FOX);
    decipher.final();
  });
});

describe('a key that is not there', () => {
  it.each([
    ['DELETE', 'keys/nobody/soft-delete'],
    ['POST', 'keys/nobody/soft-delete-restore'],
  ])('is nothing to %s %s', async (method, path) => {
    const { status, text } = await call(method, path);
    expect([status, text]).toEqual([204, '']);
  });
});

describe('a batch', () => {
  it.each([
    ['encrypt', 'missing plaintext to encrypt'],
    ['decrypt', 'missing ciphertext to decrypt'],
  ])('of an item with nothing to %s fails that item', async (operation, error) => {
    await call('POST', 'keys/batches');
    const { status, json } = await call('POST', `${operation}/batches`, { batch_input: [{}] });
    expect([status, json.data.batch_results]).toEqual([
      400,
      [{ error, reference: '', plaintext: operation === 'decrypt' ? '' : undefined }],
    ]);
  });
});

describe('a signature of ECDSA', () => {
  const verdict = async (signature: Buffer | string, marshaling_algorithm: string) => {
    const form = marshaling_algorithm === 'jws' ? 'base64url' : 'base64';
    const text = typeof signature === 'string' ? signature : `vault:v1:${signature.toString(form)}`;
    const { json } = await call('POST', 'verify/numbers', {
      input: FOX,
      signature: text,
      marshaling_algorithm,
    });
    return json.data ?? json.errors;
  };

  it('is valid with newlines and zeros in it where OpenBao takes them', async () => {
    await call('POST', 'keys/numbers', { type: 'ecdsa-p256' });
    const signed = await call('POST', 'sign/numbers', { input: FOX, marshaling_algorithm: 'jws' });
    const { signature } = signed.json.data;
    const numbers = Buffer.from(signature.split(':')[2], 'base64url');
    expect(await verdict(`${signature.slice(0, 40)}\n${signature.slice(40)}\r\n`, 'jws')).toEqual({
      valid: true,
    });
    const zero = Buffer.alloc(1);
    const longer = Buffer.concat([zero, numbers.subarray(0, 32), zero, numbers.subarray(32)]);
    expect(await verdict(longer, 'jws')).toEqual({ valid: true });
  });

  it('is valid with a third element in its DER, and refused with something behind it', async () => {
    await call('POST', 'keys/numbers', { type: 'ecdsa-p256' });
    const { json } = await call('POST', 'sign/numbers', { input: FOX });
    const der = Buffer.from(json.data.signature.split(':')[2], 'base64');
    const behind = Buffer.concat([der, Buffer.from('020101', 'hex')]);
    expect(await verdict(behind, 'asn1')).toEqual(['supplied signature contains extra data']);
    behind.writeUInt8(behind.readUInt8(1) + 3, 1);
    expect(await verdict(behind, 'asn1')).toEqual({ valid: true });
    behind.writeUInt8(behind.readUInt8(20) ^ 1, 20);
    expect(await verdict(behind, 'asn1')).toEqual({ valid: false });
  });
});

describe('a signature that lost its padding', () => {
  it('is refused where it has a letter of standard base64 alone, and else is one for JWS that is not valid', async () => {
    await call('POST', 'keys/padding', { type: 'ed25519' });
    for (let i = 0; i < 20; i++) {
      const input = Buffer.from([i]).toString('base64');
      const { signature } = (await call('POST', 'sign/padding', { input })).json.data;
      const cut = signature.replace(/=+$/, '');
      const payload = cut.slice(cut.lastIndexOf(':') + 1);
      const { status, json } = await call('POST', 'verify/padding', { input, signature: cut });
      const expected = /[+/]/.test(payload) ? { status: 400 } : { status: 200, data: { valid: false } };
      expect({ status, data: json.data }).toMatchObject(expected);
    }
  });
});

describe('a backup', () => {
  const ed25519 = { time: '0001-01-01T00:00:00Z', key: ED25519_KEY, public_key: ED25519_KEY.slice(-44) };

  it('of a key from before versions had precise times shows those it has', async () => {
    const { public_key: _, ...entry } = ed25519;
    const backup = goBackup(goDocument([goEntry({ ...entry, creation_time: 1_442_851_412 })], { type: 2 }));
    expect((await call('POST', 'restore/old', { backup })).status).toBe(204);
    const { json } = await call('GET', 'keys/old');
    expect(json.data.keys['1'].creation_time).toBe('2015-09-21T16:03:32Z');
  });

  it('is refused when it wants to be kept elsewhere', async () => {
    const document = goDocument([goEntry({ key: KEY })], { storage_prefix: '../x' });
    const { status, json } = await call('POST', 'restore/elsewhere', { backup: goBackup(document) });
    expect([status, json.errors[0]]).toEqual([
      400,
      'failed to restore the policy "elsewhere": relative paths not supported',
    ]);
  });

  it('of a key whose period is longer than Go can hold is taken, and what is made of it then fits', async () => {
    const document = goDocument([goEntry({ key: KEY })], { auto_rotate_period: 10n ** 30n });
    expect((await call('POST', 'restore/patient', { backup: goBackup(document) })).status).toBe(204);
    const { json } = await call('GET', 'keys/patient');
    expect(json.data.auto_rotate_period).toBe(9_223_372_036);
    const again = await call('GET', 'backup/patient');
    const printed = Buffer.from(again.json.data.backup, 'base64').toString();
    expect(printed).toContain('"auto_rotate_period":9223372036000000000,');
    expect((await call('POST', 'restore/patient-again', { backup: again.json.data.backup })).status).toBe(
      204,
    );
  });

  it('can be made and restored of every key whose period could be set', async () => {
    const settings = { exportable: true, allow_plaintext_backup: true };
    const longest = { ...settings, auto_rotate_period: 9_223_372_036 };
    expect((await call('POST', 'keys/longest', longest)).json.data.auto_rotate_period).toBe(9_223_372_036);
    const { backup } = (await call('GET', 'backup/longest')).json.data;
    expect((await call('POST', 'restore/longest-again', { backup })).status).toBe(204);
    const longer = await call('POST', 'keys/longer', { ...settings, auto_rotate_period: 9_223_372_037 });
    expect([longer.status, longer.json.errors[0]]).toEqual([
      400,
      'auto_rotate_period must be at most 9223372036 seconds',
    ]);
  });
});
