import { verify as nodeVerify, X509Certificate } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { setCertificateChain } from '../../src/transit/certificates/chain.ts';
import { certificateRequest } from '../../src/transit/certificates/request.ts';
import type { Engine } from '../../src/transit/engine.ts';
import { exportKey } from '../../src/transit/export.ts';
import { keyTypeNames, keyTypes } from '../../src/transit/key-types/index.ts';
import { createKey } from '../../src/transit/lifecycle.ts';
import { type Authority, OpenSsl } from '../reference/openssl.ts';
import { freshEngine } from '../transit/fresh-engine.ts';
import { exportedPem, newKey } from './transit-calls.ts';

/** Certificates that the `openssl` command signs for keys that are made here. */

const openssl = new OpenSsl();
let engine: Engine;
let root: Authority;
beforeAll(async () => {
  engine = await freshEngine();
  root = openssl.authority('root');
});
afterAll(() => openssl.close());

const ALGORITHMS: Readonly<Record<string, string>> = {
  'ecdsa-p256': 'ecdsa-with-SHA256',
  'ecdsa-p384': 'ecdsa-with-SHA384',
  'ecdsa-p521': 'ecdsa-with-SHA512',
  'ecdsa-secp256k1': 'ecdsa-with-SHA256',
  'rsa-2048': 'sha256WithRSAEncryption',
  'rsa-3072': 'sha256WithRSAEncryption',
  'rsa-4096': 'sha256WithRSAEncryption',
  ed25519: 'ED25519',
};

const requested = async (name: string, template = '') =>
  (await certificateRequest(engine, name, { version: undefined, template })).pem;

describe.each(Object.entries(ALGORITHMS))('a key of the type %s', (type, algorithm) => {
  it(`asks with a signature of the kind ${algorithm}, and gets a certificate that is valid`, async () => {
    await createKey(engine, type, newKey(type));
    const template = openssl.request('-subj /CN=x.example -addext subjectAltName=DNS:x.example');
    const request = await requested(type, template);
    const text = openssl.verified(request);
    expect(text).toContain(`Signature Algorithm: ${algorithm}`);
    expect(text).toContain('DNS:x.example');
    expect(openssl.run('req -noout -pubkey', request).trim()).toBe(
      (await exportedPem(engine, type, 'public-key')).trim(),
    );
    const pem = `${openssl.certified(request, root)}${root.pem}`;
    await setCertificateChain(engine, type, { version: undefined, pem });
    const asked = { kind: 'certificate-chain', version: '', format: '' };
    const { printed } = await exportKey(engine, type, asked);
    openssl.write('chain.pem', printed['1'] ?? '');
    expect(openssl.run('verify -CAfile root.pem chain.pem')).toContain('chain.pem: OK');
    expect(openssl.run('x509 -in chain.pem -noout -ext subjectAltName')).toContain('DNS:x.example');
  });
});

/** The values in DER, one behind the other; lengths in at most three octets. */
function membersIn(der: Buffer = Buffer.alloc(0)): { readonly bytes: Buffer; readonly content: Buffer }[] {
  if (der.length === 0) return [];
  const first = der[1] ?? 0;
  const octets = first < 0x80 ? 0 : first - 0x80;
  const start = 2 + octets;
  const end = start + (octets === 0 ? first : der.readUIntBE(2, octets));
  const value = { bytes: der.subarray(0, end), content: der.subarray(start, end) };
  return [value, ...membersIn(der.subarray(end))];
}

/** Types that the machine's OpenSSL may be too old for: what Node's own reads and verifies must do. */
const others = keyTypes()
  .filter(({ name, signing }) => signing !== undefined && !(name in ALGORITHMS) && !/slh.*[s]$/.test(name))
  .map(({ name }) => name);

describe.each(others)('a key of the type %s', (type) => {
  it('asks with a signature that its public key verifies, of the kind that the key has', async () => {
    await createKey(engine, type, newKey(type));
    const pem = await requested(type);
    const der = Buffer.from(pem.replace(/-----.*-----|\n/g, ''), 'base64');
    const publicKey = await exportedPem(engine, type, 'public-key');
    const request = membersIn(der);
    const [info, algorithm, signature] = membersIn(request[0]?.content).map(({ bytes }) => bytes);
    const signed = membersIn(signature)[0]?.content.subarray(1);
    if (info === undefined || algorithm === undefined || signed === undefined) return expect.fail(pem);
    expect(nodeVerify(null, info, publicKey, signed)).toBe(true);
    expect(info.includes(algorithm)).toBe(true);
  });
});

describe('every type that signs', () => {
  it('is one of those above, or is slow', () => {
    const slow = keyTypeNames().filter((name) => /slh.*s$/.test(name));
    const signing = keyTypes().filter((type) => type.signing !== undefined);
    expect(signing.map(({ name }) => name).sort()).toEqual(
      [...Object.keys(ALGORITHMS), ...others, ...slow].sort(),
    );
  });

  it('has no certificate of an authority for its own', async () => {
    expect(new X509Certificate(root.pem).ca).toBe(true);
    await createKey(engine, 'plain', newKey('ed25519'));
    const template = openssl.request('-subj /CN=x -addext basicConstraints=critical,CA:TRUE');
    const pem = openssl.certified(await requested('plain', template), root);
    await expect(setCertificateChain(engine, 'plain', { version: 1, pem })).rejects.toThrow(
      'certificate in the first element is not a valid leaf certificate',
    );
  });
});
