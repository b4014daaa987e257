/** Public halves of signing keys for others: JSON Web Key Sets, certificate requests, and certificate chains. */

import { withoutPrivateKey } from '../../ground/private-key-text.ts';
import type { PublishedKey } from '../../transit/jwks.ts';
import { atTopToo, computing } from '../declaration/operation.ts';
import { integer, text } from '../declaration/params.ts';
import { existingKey, transitOperation } from './parameters.ts';

/** JSON Web Key Set. */
export interface KeySet {
  readonly keys: readonly PublishedKey[];
}

/** Returns the public keys of a signing key in the form that JWT libraries read. */
export const jwks = transitOperation({
  route: 'GET keys/:name/jwks',
  withoutSecret: true,
  params: { name: existingKey },
  cli: {
    // Compact, like the documents that web servers publish.
    lines: (data: KeySet) => [JSON.stringify(data)],
    table: ({ keys }: KeySet) => ({
      head: ['Key ID', 'Type', 'Algorithm'],
      rows: keys.map(({ kid, kty, alg }) => [kid, String(kty), typeof alg === 'string' ? alg : '']),
    }),
    examples: {
      'coffer transit keys jwks tokens > jwks.json': 'Write a JWKS file for a web server',
      'coffer transit keys jwks tokens -o json | jq -r .keys[].kid': 'Print only the key IDs',
    },
  },
  async run({ engine }, { name }) {
    const { jsonWebKeySet } = await import('../../transit/jwks.ts');
    return atTopToo<KeySet>({ keys: await jsonWebKeySet(engine, name) });
  },
});

const version = integer({ help: 'Version of the key to use. Default: latest.' });

export const csr = transitOperation({
  route: 'POST keys/:name/csr',
  ...computing,
  params: {
    name: existingKey,
    version,
    csr: text({
      long: true,
      help: 'Another CSR in PEM, to copy the subject and attributes from. Default: an empty subject.',
      default: '',
      cli: { metavar: 'TEMPLATE' },
    }),
  },
  cli: {
    input: { param: 'csr', as: 'text', onRequest: true },
    result: { member: 'csr', as: 'text' },
    examples: {
      'coffer transit keys csr releases --in template.csr': 'Copy the subject and attributes of another CSR',
      'coffer transit keys csr releases | openssl req -noout -text': 'Print a CSR with an empty subject',
    },
  },
  async run({ engine }, values) {
    // Loaded on use, because it is rarely needed.
    const { certificateRequest } = await import('../../transit/certificates/request.ts');
    const request = { version: values.version, template: values.csr };
    const { key, version: number, pem } = await certificateRequest(engine, values.name, request);
    return { data: { name: key.document.name, type: key.typeNameFor(engine), version: number, csr: pem } };
  },
});

export const setCertificate = transitOperation({
  route: 'POST keys/:name/set-certificate',
  withoutSecret: true,
  params: {
    name: existingKey,
    version,
    certificate_chain: text({
      long: true,
      help: 'Certificate chain in PEM, leaf certificate first.',
      default: '',
      cli: { metavar: 'CHAIN', check: withoutPrivateKey('the certificates') },
    }),
  },
  cli: {
    acts: true,
    input: { param: 'certificate_chain', as: 'text' },
    done: (values) => `Set the certificate chain of key ${values['name']}.`,
    examples: {
      'coffer transit keys set-certificate releases --in chain.pem':
        'Store the chain for the latest version of the key',
    },
  },
  async run({ engine }, values) {
    const { setCertificateChain } = await import('../../transit/certificates/chain.ts');
    const { certificate_chain: pem } = values;
    const { document } = await setCertificateChain(engine, values.name, { version: values.version, pem });
    return { data: { name: document.name, type: document.type, certificate_chain: pem } };
  },
});
