import { readFileSync } from 'node:fs';
import { afterAll, expect, it } from 'vitest';
import { OpenSsl } from '../../reference/openssl.ts';
import type { Suite } from './index.ts';

export const certificatesSuite: Suite = (here) => {
  const openssl = new OpenSsl();
  afterAll(() => openssl.close());

  it('asks for a certificate, and keeps the chain that an authority made of it', async () => {
    await here().ok('transit keys create site --type ecdsa-p256');
    openssl.write(
      'template.csr',
      openssl.request('-subj /CN=site.example -addext keyUsage=critical,digitalSignature'),
    );
    const template = `${openssl.directory}/template.csr`;
    await here().ok(`transit keys csr site --in ${template} --out site.csr`);
    const request = readFileSync(here().file('site.csr'), 'utf8');
    expect(openssl.verified(request)).toContain('CN = site.example');
    const root = openssl.authority('root');
    openssl.write('chain.pem', `${openssl.certified(request, root)}${root.pem}`);
    expect(await here().ok(`transit keys set-certificate site --in ${openssl.directory}/chain.pem`)).toBe('');
    const exported = await here().ok(
      'transit keys export site --key-type certificate-chain --version latest',
    );
    expect(`${exported}\n`).toBe(openssl.read('chain.pem'));
    expect(await here().json('transit keys read site')).toMatchObject({
      keys: { 1: { certificate_chain: exported } },
    });
    expect(await here().ok('transit keys read site -o table')).toContain('version 1 certificates');
  });

  it('does not take the input of a loop for a template', async () => {
    await here().ok('transit keys create plain --type ed25519');
    const request = await here().ok('transit keys csr plain --version 1', { input: 'site\nplain\n' });
    expect(openssl.verified(`${request}\n`)).toContain('Public Key Algorithm: ED25519');
    const template = openssl.read('template.csr');
    expect(openssl.verified(await here().ok('transit keys csr plain -', { input: template }))).toContain(
      'site.example',
    );
  });

  it('says what is wrong with a request or a chain', async () => {
    await here().ok('transit keys create symmetric');
    expect(await here().refused('transit keys csr symmetric', 2)).toContain('does not support signing');
    expect(await here().refused('transit keys csr nobody', 3)).toContain('key "nobody" not found');
    expect(await here().refused('transit keys csr site --version 2', 2)).toContain('no such key version');
    expect(await here().refused('transit keys csr site junk', 2)).toContain('could not decode PEM CSR');
    const root = openssl.read('root.pem');
    expect(await here().refused('transit keys set-certificate site', 2, { input: root })).toContain(
      'the first certificate is the certificate of a CA, not of the key',
    );
    await here().refused('transit keys export symmetric --key-type certificate-chain', 2);
  });

  it('derives the key that the other side computes with openssl', async () => {
    await here().ok('transit keys create mine --type ecdsa-p384');
    openssl.run('genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-384 -out theirs.key');
    openssl.run('pkey -in theirs.key -pubout -out theirs.pem');
    await here().ok(`transit derive-key shared --base-key-name mine --in ${openssl.directory}/theirs.pem`);
    openssl.write('mine.pem', await here().ok('transit keys export mine --key-type public-key'));
    openssl.run('pkeyutl -derive -inkey theirs.key -peerkey mine.pem -out secret');
    const secret = readFileSync(`${openssl.directory}/secret`).toString('hex');
    const key = openssl
      .run(`kdf -keylen 32 -kdfopt digest:SHA256 -kdfopt hexkey:${secret} -kdfopt salt: HKDF`)
      .replaceAll(':', '')
      .trim();
    await here().ok('transit import theirs', { input: Buffer.from(key, 'hex').toString('base64') });
    expect(await here().ok(`transit decrypt theirs ${await here().ok('transit encrypt shared hello')}`)).toBe(
      'hello',
    );
    expect(
      await here().refused('transit derive-key shared --base-key-name mine', 2, { input: 'x' }),
    ).toContain('the public key of the peer cannot be read');
    await here().refused('transit keys rotate shared', 2);
  });
};
