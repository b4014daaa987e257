import { createPrivateKey, createPublicKey, generateKeyPairSync } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { type ExportRequest, exportKey, exportKinds, isPublicKind } from '../../src/transit/export.ts';
import type { NamedKeyDocument } from '../../src/transit/key-document.ts';
import { storedKey } from '../../src/transit/key-types/key-pair.ts';
import { rejectionOf } from '../reference/thrown.ts';
import { freshEngine } from './fresh-engine.ts';
import { HMAC_KEY, KEY_32, knownKey, knownVersion, storeKey } from './known-key.ts';

const ALL = { version: '', format: '' };
const aes = knownKey('aes256-gcm96', [knownVersion(KEY_32), knownVersion(KEY_32), knownVersion(KEY_32)]);

const rsaPair = generateKeyPairSync('rsa', { modulusLength: 2048 });
const ecPair = generateKeyPairSync('ec', { namedCurve: 'prime256v1' });
const SEED_PKCS8 = Buffer.concat([Buffer.from('302e020100300506032b657004220420', 'hex'), KEY_32]);
const edPrivate = createPrivateKey({ key: SEED_PKCS8, format: 'der', type: 'pkcs8' });

const version = { ...knownVersion(KEY_32) };
const rsa = knownKey('rsa-2048', [{ ...version, ...storedKey(rsaPair.privateKey) }]);
const ecdsa = knownKey('ecdsa-p256', [{ ...version, ...storedKey(ecPair.privateKey) }]);
const ed25519 = knownKey('ed25519', [{ ...version, ...storedKey(edPrivate) }]);

async function exported(document: NamedKeyDocument, request: Partial<ExportRequest>) {
  const engine = await freshEngine();
  await storeKey(engine, document);
  const { printed } = await exportKey(engine, 'known', { ...ALL, kind: 'encryption-key', ...request });
  return printed;
}

/** What Node prints; OpenSSL's own writers are the other implementation here. */
const der = (key: 'private' | 'public', pair: { privateKey: typeof edPrivate }) =>
  (key === 'private'
    ? pair.privateKey.export({ format: 'der', type: 'pkcs8' })
    : createPublicKey(pair.privateKey).export({ format: 'der', type: 'spki' })
  ).toString('base64');
const spkiPem = (pair: { privateKey: typeof edPrivate }) =>
  createPublicKey(pair.privateKey).export({ format: 'pem', type: 'spki' }).toString();
const pkcs8Pem = (pair: { privateKey: typeof edPrivate }) =>
  pair.privateKey.export({ format: 'pem', type: 'pkcs8' }).toString();

const rsaPkcs1 = rsaPair.privateKey.export({ format: 'pem', type: 'pkcs1' }).toString();
const ecSec1 = ecPair.privateKey.export({ format: 'pem', type: 'sec1' }).toString();
const edPair = { privateKey: edPrivate };
const RAW_ED25519 =
  'AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8DoQe/884Qvh1w3RjnS8CZZ+TWMJulDV8d3IZkElUxuA==';
const RAW_ED25519_PUBLIC = 'A6EHv/POEL4dcN0Y50vAmWfk1jCbpQ1fHdyGZBJVMbg=';

/** Puts the type of the key in front, for the title, and the key at the end. */
const typed = <T extends unknown[]>(cases: [NamedKeyDocument, ...T][]): [string, ...T, NamedKeyDocument][] =>
  cases.map(([document, ...rest]) => [document.type, ...rest, document]);

describe('exporting', () => {
  it.each(
    typed<[string, string, string]>([
      [aes, 'hmac-key', '', HMAC_KEY.toString('base64')],
      [aes, 'hmac-key', 'raw', HMAC_KEY.toString('base64')],
      [aes, 'encryption-key', '', KEY_32.toString('base64')],
      [aes, 'encryption-key', 'raw', KEY_32.toString('base64')],
      [rsa, 'encryption-key', '', rsaPkcs1],
      [rsa, 'signing-key', '', rsaPkcs1],
      [rsa, 'signing-key', 'der', der('private', rsaPair)],
      [rsa, 'encryption-key', 'pem', pkcs8Pem(rsaPair)],
      [rsa, 'public-key', '', spkiPem(rsaPair)],
      [rsa, 'public-key', 'der', der('public', rsaPair)],
      [rsa, 'public-key', 'pem', spkiPem(rsaPair)],
      [ecdsa, 'signing-key', '', ecSec1.trim()],
      [ecdsa, 'signing-key', 'der', der('private', ecPair)],
      [ecdsa, 'signing-key', 'pem', pkcs8Pem(ecPair).trim()],
      [ecdsa, 'public-key', '', spkiPem(ecPair).trim()],
      [ecdsa, 'public-key', 'der', der('public', ecPair)],
      [ed25519, 'signing-key', '', RAW_ED25519],
      [ed25519, 'signing-key', 'raw', RAW_ED25519],
      [ed25519, 'signing-key', 'der', der('private', edPair)],
      [ed25519, 'signing-key', 'pem', pkcs8Pem(edPair).trim()],
      [ed25519, 'public-key', '', RAW_ED25519_PUBLIC],
      [ed25519, 'public-key', 'der', der('public', edPair)],
      [ed25519, 'public-key', 'pem', spkiPem(edPair).trim()],
    ]),
  )('gives of %s the %s in the format "%s"', async (_type, kind, format, expected, document) => {
    expect((await exported(document, { kind, format }))['1']).toBe(expected);
  });

  it('gives every version that may be used, or the one asked for', async () => {
    const key = { ...aes, minDecryptionVersion: 2 };
    expect(Object.keys(await exported(key, {}))).toEqual(['2', '3']);
    expect(Object.keys(await exported(key, { version: 'latest' }))).toEqual(['3']);
    expect(Object.keys(await exported(key, { version: '2' }))).toEqual(['2']);
    expect(Object.keys(await exported(key, { version: 'v3' }))).toEqual(['3']);
  });

  it('gives an empty text for the private half that a version lacks', async () => {
    const publicOnly = {
      ...storedKey(ecPair.publicKey),
      createdAt: '',
      createdAtSeconds: 0,
      convergentVersion: 0,
    };
    const key = knownKey('ecdsa-p256', [publicOnly]);
    expect(await exported(key, { kind: 'signing-key' })).toEqual({ 1: '' });
    expect(await exported(key, { kind: 'public-key' })).toEqual({ 1: spkiPem(ecPair).trim() });
  });

  it('gives public keys of keys that are not exportable', async () => {
    expect(await exported({ ...ecdsa, exportable: false }, { kind: 'public-key' })).toHaveProperty('1');
  });

  it('gives the certificates of a version, in PEM', async () => {
    const chain = [Buffer.alloc(60, 1).toString('base64'), Buffer.alloc(3, 2).toString('base64')];
    const key = knownKey('ecdsa-p256', [
      { ...version, ...storedKey(ecPair.privateKey), certificateChain: chain },
    ]);
    expect((await exported(key, { kind: 'certificate-chain' }))['1']).toBe(
      [
        '-----BEGIN CERTIFICATE-----',
        'AQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEB',
        'AQEBAQEBAQEBAQEB',
        '-----END CERTIFICATE-----',
        '-----BEGIN CERTIFICATE-----',
        'AgIC',
        '-----END CERTIFICATE-----',
      ].join('\n'),
    );
  });

  const HMAC_FORMAT = 'unknown format for HMAC key; supported values are `` or `raw`';
  const RSA_FORMAT = 'unknown key format for rsa key; supported values are ``, `der`, or `pem`';
  const EC_FORMAT = 'unknown key format for ec key; supported values are ``, `der`, or `pem`';

  it.each(
    typed<[Partial<ExportRequest>, string, string]>([
      [aes, { kind: 'secrets', format: 'x' }, 'invalid', 'invalid export type: secrets'],
      [aes, { kind: 'toString' }, 'invalid', 'invalid export type: toString'],
      [aes, { format: 'x' }, 'invalid', 'invalid format: x'],
      [{ ...aes, exportable: false }, {}, 'conflict', 'private key material is not exportable'],
      [
        { ...aes, exportable: false },
        { kind: 'hmac-key' },
        'conflict',
        'private key material is not exportable',
      ],
      [{ ...aes, softDeleted: true }, {}, 'conflict', 'refusing to use soft-deleted key'],
      [ecdsa, {}, 'unsupported', 'encryption not supported for the key'],
      [aes, { kind: 'signing-key' }, 'unsupported', 'signing not supported for the key'],
      [
        aes,
        { kind: 'certificate-chain' },
        'unsupported',
        'certificate chain not supported for keys that do not support signing',
      ],
      [
        ecdsa,
        { kind: 'certificate-chain' },
        'unsupported',
        'selected key version does not have a certificate chain imported',
      ],
      [
        aes,
        { kind: 'public-key' },
        'unsupported',
        'unknown key type aes256-gcm96 for export type public-key',
      ],
      [
        { ...ed25519, derived: true, kdf: 1 },
        { kind: 'public-key' },
        'unsupported',
        'public key of a derived key cannot be exported',
      ],
      [aes, { version: 'x' }, 'invalid', 'invalid key version'],
      [
        { ...aes, minDecryptionVersion: 2 },
        { version: '1' },
        'invalid',
        'version for export is below minimum decryption version',
      ],
      [aes, { version: '4' }, 'invalid', 'version does not exist or cannot be found'],
      [aes, { format: 'der' }, 'invalid', HMAC_FORMAT],
      [aes, { format: 'pem' }, 'invalid', HMAC_FORMAT],
      [aes, { kind: 'hmac-key', format: 'pem' }, 'invalid', HMAC_FORMAT],
      [rsa, { format: 'raw' }, 'invalid', RSA_FORMAT],
      [rsa, { kind: 'public-key', format: 'raw' }, 'invalid', RSA_FORMAT],
      [ecdsa, { kind: 'signing-key', format: 'raw' }, 'invalid', EC_FORMAT],
      [ecdsa, { kind: 'public-key', format: 'raw' }, 'invalid', EC_FORMAT],
    ]),
  )('refuses of %s the request %j as %s: %s', async (_type, request, kind, message, document) => {
    expect(await rejectionOf(exported(document, request))).toMatchObject({
      kind,
      message,
      field: expect.any(String),
      hint: expect.any(String),
    });
  });

  it('refuses a name that no key has', async () => {
    const attempt = exportKey(await freshEngine(), 'nobody', { ...ALL, kind: 'hmac-key' });
    expect(await rejectionOf(attempt)).toMatchObject({ kind: 'not-found' });
  });
});

describe('what is exported', () => {
  it('is public for two kinds, and for none that does not exist', () => {
    expect(exportKinds().filter(isPublicKind)).toEqual(['public-key', 'certificate-chain']);
    for (const kind of ['toString', 'constructor', '__proto__', '', undefined, 5, ['public-key']])
      expect(isPublicKind(kind)).toBe(false);
  });

  it('is no certificate of a version that has an empty list of them', async () => {
    const { 1: only } = ecdsa.versions;
    const empty = { ...ecdsa, versions: { 1: { ...only, ...version, certificateChain: [] } } };
    const work = exported(empty, { kind: 'certificate-chain', version: '1' });
    expect(await rejectionOf(work)).toMatchObject({
      message: 'selected key version does not have a certificate chain imported',
    });
  });
});
