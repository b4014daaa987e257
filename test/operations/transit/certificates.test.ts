import { X509Certificate } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Authority, OpenSsl } from '../../reference/openssl.ts';
import { rejectionOf } from '../../reference/thrown.ts';
import { freshOperations, type Operations, type Raw } from './operations.ts';

const openssl = new OpenSsl();
afterAll(() => openssl.close());

let operations: Operations;
let ask: Operations['ask'];
let root: Authority;
let middle: Authority;
beforeAll(async () => {
  operations = await freshOperations();
  ({ ask } = operations);
  await ask('keys create', { name: 'p256', type: 'ecdsa-p256' });
  await ask('keys rotate', { name: 'p256', force: true });
  await ask('keys create', { name: 'ed25519', type: 'ed25519' });
  await ask('keys create', { name: 'aes' });
  await ask('keys create', { name: 'derived', type: 'ed25519', derived: true });
  root = openssl.authority('root');
  middle = openssl.authority('middle', root);
});

const csr = (name: string, raw: Raw = {}) => operations.text('keys csr', { name, ...raw }, 'csr');

async function publicKeyOf(name: string, version: number): Promise<string> {
  const { keys } = (await ask('keys read', { name })) as {
    keys: Record<number, { public_key: string }>;
  };
  return keys[version]?.public_key ?? '';
}

/** What both operations say of keys that have nothing to certify. */
const UNSUITABLE = [
  ['none', 'not-found', "key with provided name 'none' not found"],
  ['aes', 'unsupported', 'key type aes256-gcm96 does not support signing'],
  ['derived', 'unsupported', 'operation not supported for keys with derivation enabled'],
] as const;

describe('keys csr', () => {
  it('answers a request for the latest version that names nobody, in PEM', async () => {
    const answer = (await ask('keys csr', { name: 'p256' })) as { csr: string };
    expect(answer).toEqual({ name: 'p256', type: 'ecdsa-p256', version: 2, csr: expect.any(String) });
    expect(answer.csr).toMatch(
      /^-----BEGIN CERTIFICATE REQUEST-----\n(?:[\w+/=]{1,64}\n)+-----END CERTIFICATE REQUEST-----\n$/,
    );
    expect(openssl.verified(answer.csr)).toMatch(/Subject: \n[\s\S]*Attributes:\s+\(none\)/);
    expect(openssl.run('req -noout -pubkey', answer.csr)).toBe(await publicKeyOf('p256', 2));
  });

  it('is about the version that is asked for', async () => {
    const request = await csr('p256', { version: 1 });
    expect(openssl.verified(request)).toContain('verify OK');
    expect(openssl.run('req -noout -pubkey', request)).toBe(await publicKeyOf('p256', 1));
  });

  it.each([
    ['names', '-utf8 -subj /C=DE/O=Größe/OU=a+CN=b'],
    ['extensions', '-subj /CN=x -addext subjectAltName=DNS:x.example,IP:10.0.0.1,email:x@example.org'],
    [
      'critical extensions',
      '-subj /CN=x -addext keyUsage=critical,digitalSignature -addext basicConstraints=critical,CA:FALSE -addext 1.2.3.4=critical,DER:0403010203',
    ],
    ['the words of older programs', '-newhdr -subj /CN=x'],
  ])('takes %s over from another request, byte for byte', async (_, options) => {
    const template = openssl.request(options);
    const request = await csr('ed25519', { csr: `what stands around it is skipped\n${template}` });
    openssl.verified(request);
    expect(takenOver(request)).toEqual(takenOver(template));
    expect(takenOver(request).length).toBeGreaterThan(6);
    expect(openssl.run('req -noout -pubkey', request)).toContain(await ed25519Pem());
  });

  it('does not ask whether the other request was signed', async () => {
    const template = openssl.request('-subj /CN=x');
    const der = Buffer.from(template.replace(/-----.*-----|\n/g, ''), 'base64');
    der[der.length - 1] = (der.at(-1) ?? 0) ^ 1;
    const spoiled = `-----BEGIN CERTIFICATE REQUEST-----\n${der.toString('base64')}\n-----END CERTIFICATE REQUEST-----`;
    expect(openssl.verified(await csr('p256', { csr: spoiled }))).toContain('CN = x');
  });

  it.each(UNSUITABLE)('refuses the key "%s": %s', async (name, kind, message) => {
    expect(await rejectionOf(csr(name))).toMatchObject({ kind, message, field: 'name' });
  });

  it.each([0, -1, 3])('refuses version %i, which there is not', async (version) => {
    expect(await rejectionOf(csr('p256', { version }))).toMatchObject({
      kind: 'invalid',
      message: 'could not create the csr: no such key version',
      field: 'version',
    });
  });

  it('refuses the word latest, which is no number', async () => {
    expect(await rejectionOf(csr('p256', { version: 'latest' }))).toMatchObject({ field: 'version' });
  });

  it('refuses a version of which only the public key is known', async () => {
    const public_key = await publicKeyOf('p256', 1);
    await ask('import', { name: 'half', type: 'ecdsa-p256', public_key });
    expect(await rejectionOf(csr('half'))).toMatchObject({
      kind: 'unsupported',
      message: 'could not create the csr: private key not imported for key version selected',
    });
  });

  it('refuses a key that is soft-deleted', async () => {
    await ask('keys create', { name: 'gone', type: 'ed25519' });
    await ask('keys soft-delete', { name: 'gone' });
    expect(await rejectionOf(csr('gone'))).toMatchObject({ message: 'refusing to use soft-deleted key' });
    const attempt = ask('keys set-certificate', { name: 'gone', certificate_chain: root.pem });
    expect(await rejectionOf(attempt)).toMatchObject({ message: 'refusing to use soft-deleted key' });
  });

  it.each([
    ['a text', 'x'],
    ['a certificate', '-----BEGIN CERTIFICATE-----\nMAA=\n-----END CERTIFICATE-----'],
    ['a request that does not end', '-----BEGIN CERTIFICATE REQUEST-----\nMAA='],
    [
      'a request that is no base64',
      '-----BEGIN CERTIFICATE REQUEST-----\n?\n-----END CERTIFICATE REQUEST-----',
    ],
  ])('refuses %s as a template', async (_, template) => {
    expect(await rejectionOf(csr('p256', { csr: template }))).toMatchObject({
      kind: 'invalid',
      message: 'could not decode PEM CSR',
      field: 'csr',
    });
  });

  it('refuses bytes that are no request as a template', async () => {
    const template = '-----BEGIN CERTIFICATE REQUEST-----\nMAA=\n-----END CERTIFICATE REQUEST-----';
    expect(await rejectionOf(csr('p256', { csr: template }))).toMatchObject({
      kind: 'invalid',
      message: expect.stringMatching(/^could not parse the csr: asn1: /),
      field: 'csr',
    });
  });

  it.each(['csr', 'set-certificate'])('bounds what %s reads', async (operation) => {
    const raw = { name: 'p256', csr: 'x'.repeat(262_145), certificate_chain: 'x'.repeat(262_145) };
    expect(await rejectionOf(ask(`keys ${operation}`, raw))).toMatchObject({ kind: 'too-large' });
  });
});

async function ed25519Pem(): Promise<string> {
  const exported = { name: 'ed25519', key_type: 'public-key', format: 'pem' };
  return ((await ask('keys export', exported)) as { keys: Record<string, string> }).keys['1'] ?? '';
}

/** The parts of a request that don't depend on its key: those that OpenSSL's parser shows, with their bytes. */
function takenOver(request: string): readonly string[] {
  const lines = openssl.run('asn1parse', request).split('\n');
  // Without offset, depth, header length and length; the first four lines, the key, the signature and what is around.
  const told = lines.map((line) => line.replace(/^.*?l= *\d+ /, '')).slice(2);
  const key = told.findIndex((line) => line.includes('id-ecPublicKey') || line.includes('ED25519'));
  const attributes = told.findIndex((line) => line.includes('cont [ 0 ]'));
  const signed = told.findIndex((line, index) => index > key && /ecdsa-with|ED25519$/.test(line));
  return [...told.slice(0, key - 2), ...told.slice(attributes, signed - 1)];
}

describe('keys set-certificate', () => {
  const set = (name: string, chain: string, raw: Raw = {}) =>
    ask('keys set-certificate', { name, certificate_chain: chain, ...raw });
  const certified = async (name: string, by: Authority, raw: Raw = {}) =>
    openssl.certified(await csr(name, raw), by);
  const chainOf = async (name: string, version: number): Promise<string | undefined> => {
    const { keys } = (await ask('keys read', { name })) as {
      keys: Record<number, { certificate_chain: string }>;
    };
    return keys[version]?.certificate_chain;
  };

  it('keeps the chain of the latest version, and answers it as it was given', async () => {
    const leaf = await certified('p256', middle);
    const given = `a word before\n${leaf}\n\n${middle.pem}${root.pem}\n`;
    expect(await set('p256', given)).toEqual({ name: 'p256', type: 'ecdsa-p256', certificate_chain: given });
    const kept = [leaf, middle.pem, root.pem].map((pem) => pem.trim()).join('\n');
    expect([await chainOf('p256', 1), await chainOf('p256', 2)]).toEqual(['', kept]);
    const exported = { name: 'p256', key_type: 'certificate-chain' };
    for (const version of ['latest', '2', 'v2']) {
      expect(await ask('keys export', { ...exported, version })).toEqual({
        name: 'p256',
        type: 'ecdsa-p256',
        keys: { 2: kept },
      });
    }
    expect(await rejectionOf(ask('keys export', { ...exported, version: '1' }))).toMatchObject({
      kind: 'unsupported',
      message: 'selected key version does not have a certificate chain imported',
    });
    openssl.write('kept.pem', kept);
    expect(openssl.run('verify -CAfile root.pem -untrusted kept.pem kept.pem')).toContain('kept.pem: OK');
  });

  it('keeps that of another version, in place of the one before', async () => {
    for (const by of [root, middle]) {
      const leaf = await certified('p256', by, { version: 1 });
      await set('p256', leaf, { version: 1 });
      expect(await chainOf('p256', 1)).toBe(leaf.trim());
    }
    expect(await chainOf('p256', 2)).toContain('BEGIN CERTIFICATE');
  });

  it('skips what is no certificate', async () => {
    const leaf = await certified('ed25519', root);
    await set('ed25519', `${openssl.read('root.key')}${leaf}${await csr('ed25519')}`);
    expect(await chainOf('ed25519', 1)).toBe(leaf.trim());
  });

  it('stays with the key through rotation, backup, restore and trim', async () => {
    await ask('keys create', {
      name: 'moved',
      type: 'ecdsa-p384',
      exportable: true,
      allow_plaintext_backup: true,
    });
    await ask('keys rotate', { name: 'moved', force: true });
    const chain = `${await certified('moved', middle)}${middle.pem}`;
    await set('moved', chain);
    await ask('keys rotate', { name: 'moved', force: true });
    await ask('keys config', { name: 'moved', min_decryption_version: 3 });
    const { backup } = (await ask('backup', { name: 'moved' })) as { backup: string };
    const { policy, archived_keys } = JSON.parse(Buffer.from(backup, 'base64').toString());
    const ders = chain.match(/-----BEGIN[\s\S]*?END CERTIFICATE-----/g)?.map((pem) => {
      return new X509Certificate(pem).raw.toString('base64');
    });
    expect(ders).toHaveLength(2);
    const inArchive = archived_keys.keys.map((entry: Raw) => entry['certificate_chain']);
    expect(inArchive).toEqual([null, null, ders, null]);
    expect(policy.keys[3].certificate_chain).toBe(null);
    await ask('restore', { backup, name: 'again' });
    for (const name of ['moved', 'again']) {
      await ask('keys config', { name, min_decryption_version: 2, min_encryption_version: 2 });
      await ask('keys trim', { name, min_available_version: 2 });
      expect(await chainOf(name, 2)).toBe(chain.trim());
    }
    const half = { name: 'completed', type: 'ecdsa-p384', public_key: await publicKeyOf('moved', 2) };
    await ask('import', half);
    await set('completed', chain);
    expect(await chainOf('completed', 1)).toBe(chain.trim());
  });

  it.each(UNSUITABLE)('refuses the key "%s": %s', async (name, kind, message) => {
    expect(await rejectionOf(set(name, root.pem))).toMatchObject({ kind, message, field: 'name' });
  });

  const NONE = 'provided certificate chain did not contain any valid PEM encoded certificate';
  const JUNK = 'could not decode a PEM block in the certificate chain';
  const PERSIST = 'failed to persist certificate chain';

  it.each<[string, () => string | Promise<string>, string]>([
    ['nothing', () => '', NONE],
    ['blanks', () => ' \n', NONE],
    ['other things in PEM', () => openssl.read('root.key'), NONE],
    ['junk', () => 'junk', JUNK],
    ['junk after a certificate', async () => `${await certified('p256', root)}junk`, JUNK],
    ['a certificate that does not end', () => '-----BEGIN CERTIFICATE-----\nMAA=\n', JUNK],
    [
      'what is no certificate',
      () => '-----BEGIN CERTIFICATE-----\nMAA=\n-----END CERTIFICATE-----\n',
      'could not parse a certificate in the certificate chain',
    ],
    [
      'an authority first',
      () => root.pem,
      `${PERSIST}: certificate in the first element is not a valid leaf certificate`,
    ],
    [
      'no authority last',
      async () => `${await certified('p256', root)}${await certified('ed25519', root)}`,
      `${PERSIST}: certificate in the last element is not a valid CA certificate`,
    ],
    [
      'a leaf between',
      async () => `${await certified('p256', root)}${await certified('ed25519', root)}${root.pem}`,
      `${PERSIST}: could not validate if there is only one leaf certificate in the provided chain`,
    ],
    [
      'a certificate of another kind of key',
      () => certified('ed25519', root),
      `${PERSIST}: could not validate key match between leaf certificate key and key entry in transit: provided leaf certificate public key algorithm 'Ed25519' does not match the transit key type 'ecdsa-p256'`,
    ],
    [
      'a certificate of another version',
      () => certified('p256', root, { version: 1 }),
      `${PERSIST}: leaf certificate public key does not match the selected key version`,
    ],
  ])('refuses %s, and keeps what was there', async (_, chain, message) => {
    const before = await chainOf('p256', 2);
    expect(await rejectionOf(set('p256', await chain()))).toMatchObject({
      kind: 'invalid',
      field: 'certificate_chain',
      message,
    });
    expect(await chainOf('p256', 2)).toBe(before);
  });

  it.each([0, -1, 3])('refuses version %i, which there is not', async (version) => {
    expect(await rejectionOf(set('p256', await certified('p256', root), { version }))).toMatchObject({
      kind: 'invalid',
      message: 'failed to persist certificate chain: no such key version',
    });
  });
});
