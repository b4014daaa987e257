import { jsonWebKeySet, type PublishedKey } from '../../transit/jwks.ts';
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
    examples: [
      ['coffer transit keys jwks tokens > jwks.json', 'Write a JWKS file for a web server'],
      ['coffer transit keys jwks tokens -o json | jq -r .keys[].kid', 'Print only the key IDs'],
    ],
  },
  async run({ engine }, { name }) {
    const data: KeySet = { keys: await jsonWebKeySet(engine, name) };
    return { data, topLevel: data };
  },
});
