import { ok } from 'node:assert/strict';
import { HASHES } from './hashes.ts';
import {
  ask,
  b64,
  type Chapter,
  expectLike,
  freeName,
  freshKey,
  gives,
  holds,
  key,
  member,
  overHttp,
  type Row,
  refuses,
} from './row.ts';
import {
  agrees,
  CONTEXT,
  derived,
  digestOf,
  ed,
  error,
  PLAIN,
  p256,
  rsa,
  signatureBy,
} from './signature-fixtures.ts';

export const sign: Chapter = {
  title: 'Sign data',
  rows: [
    ...['ed25519', 'ecdsa-p256', 'ecdsa-p384', 'ecdsa-p521', 'rsa-2048', 'rsa-3072', 'rsa-4096'].map((type) =>
      gives(
        `a key of ${type} signs`,
        'sign',
        { name: key(type), input: PLAIN },
        { signature: /^service:v1:/ },
      ),
    ),
    refuses(
      'a key that does not sign is refused',
      'sign',
      { name: key('aes256-gcm96'), input: PLAIN },
      /sign/,
    ),
    gives(
      'key_version chooses the version',
      'sign',
      { name: freshKey({ type: 'ed25519' }, 2), input: PLAIN, key_version: 1 },
      {
        signature: /^service:v1:/,
      },
    ),
    gives(
      'key_version of 0 is the latest',
      'sign',
      { name: freshKey({ type: 'ed25519' }, 2), input: PLAIN, key_version: 0 },
      {
        signature: /^service:v2:/,
      },
    ),
    refuses('a version that there is not is refused', 'sign', { name: ed, input: PLAIN, key_version: 9 }),
    holds('the hash is sha2-256 unless it is said', async (side) => {
      const name = await p256(side);
      const signature = await signatureBy(name)(side);
      const how = { name, input: PLAIN, signature, 'url:hash_algorithm': 'sha2-256' };
      expectLike(await ask(side, 'verify', how), { valid: true });
    }),
    ...Object.keys(HASHES).flatMap((algorithm): Row[] => [
      holds(`hash_algorithm may be ${algorithm}, in the path, for ECDSA`, async (side) =>
        agrees(
          side,
          await p256(side),
          { 'url:hash_algorithm': algorithm },
          {
            'url:hash_algorithm': algorithm === 'sha2-512' ? 'sha2-256' : 'sha2-512',
          },
        ),
      ),
      holds(`hash_algorithm may be ${algorithm}, in the path, for RSA`, async (side) =>
        agrees(
          side,
          await rsa(side),
          { 'url:hash_algorithm': algorithm },
          {
            'url:hash_algorithm': algorithm === 'sha2-512' ? 'sha2-256' : 'sha2-512',
          },
        ),
      ),
    ]),
    overHttp('hash_algorithm may be in the body', async (side) =>
      agrees(side, await p256(side), { hash_algorithm: 'sha2-384' }, { 'url:hash_algorithm': 'sha2-256' }),
    ),
    holds('hash_algorithm changes nothing for ed25519', async (side) => {
      const name = await ed(side);
      const plain = await signatureBy(name)(side);
      ok((await signatureBy(name, { 'url:hash_algorithm': 'sha2-512' })(side)) === plain);
    }),
    refuses(
      'a hash that there is not is refused',
      'sign',
      { name: p256, input: PLAIN, 'url:hash_algorithm': 'md5' },
      /algorithm/,
    ),
    refuses('input that is no base64 is refused', 'sign', { name: ed, input: '*' }, /base64/),
    overHttp('one of input and batch_input is needed', refuses('', 'sign', { name: ed }, /input/).check),
    gives('the empty input is one', 'sign', { name: ed, input: '' }, { signature: /^service:v1:/ }),
    gives(
      'batch_input answers each item in its order',
      'sign',
      { name: ed, batch_input: [{ input: PLAIN }, { input: b64('x') }] },
      {
        batch_results: [{ signature: /^service:/ }, { signature: /^service:/ }],
      },
    ),
    ...(
      [
        ['that lacks its input', {}],
        ['that is null', null],
        ['that is a text', 'told'],
        ['whose input is no base64', { input: '*' }],
      ] as const
    ).map(([what, bad]) =>
      gives(
        `an item ${what} gets an error, and the others are signed`,
        'sign',
        {
          name: ed,
          batch_input: [{ input: PLAIN }, bad, { input: PLAIN }],
        },
        { batch_results: [{ signature: /^service:/ }, error, { signature: /^service:/ }] },
      ),
    ),
    overHttp('top-level input and context are ignored beside batch_input', async (side) =>
      expectLike(
        await ask(side, 'sign', { name: ed, input: '***', context: '***', batch_input: [{ input: PLAIN }] }),
        {
          batch_results: [{ signature: /^service:/ }],
        },
      ),
    ),
    refuses('context is needed when the key is derived', 'sign', { name: derived, input: PLAIN }, /context/),
    gives(
      'context is taken when the key is derived',
      'sign',
      { name: derived, input: PLAIN, context: CONTEXT },
      {
        signature: /^service:v1:/,
      },
    ),
    holds('the same context derives the same key and signature', async (side) => {
      const once = signatureBy(derived, { context: CONTEXT });
      const first = await once(side);
      ok((await once(side)) === first);
      ok(first !== (await signatureBy(derived, { context: b64('other') })(side)));
    }),
    gives(
      'items of a derived key have a publickey',
      'sign',
      {
        name: derived,
        batch_input: [{ input: PLAIN, context: CONTEXT }],
      },
      {
        batch_results: [
          { publickey: (value: unknown) => Buffer.from(String(value), 'base64').length === 32 },
        ],
      },
    ),
    gives(
      'an item of a derived key without a context gets an error',
      'sign',
      {
        name: derived,
        batch_input: [{ input: PLAIN }, { input: PLAIN, context: CONTEXT }],
      },
      { batch_results: [error, { signature: /^service:/ }] },
    ),
    ...Object.keys(HASHES).map((algorithm) =>
      holds(`prehashed takes the hash, which hash_algorithm names for RSA: ${algorithm}`, async (side) => {
        const name = await rsa(side);
        const how = { 'url:hash_algorithm': algorithm };
        const given = { name, input: digestOf(algorithm), prehashed: true, ...how };
        const signature = await member('sign', given, 'signature')(side);
        expectLike(await ask(side, 'verify', { name, input: PLAIN, signature, ...how }), { valid: true });
      }),
    ),
    refuses('a hash of another length than the named one is refused', 'sign', {
      name: rsa,
      input: b64('short'),
      prehashed: true,
    }),
    holds('prehashed is false unless it is said', async (side) => {
      const name = await rsa(side);
      const signature = await member('sign', { name, input: digestOf('sha2-256') }, 'signature')(side);
      expectLike(await ask(side, 'verify', { name, input: PLAIN, signature }), { valid: false });
    }),
    holds('signature_algorithm is pss unless it is said', async (side) => {
      const name = await rsa(side);
      const signature = await signatureBy(name)(side);
      const how = { name, input: PLAIN, signature, signature_algorithm: 'pss' };
      expectLike(await ask(side, 'verify', how), { valid: true });
    }),
    ...['pss', 'pkcs1v15'].map((algorithm, at, all) =>
      holds(`signature_algorithm may be ${algorithm}`, async (side) =>
        agrees(
          side,
          await rsa(side),
          { signature_algorithm: algorithm },
          { signature_algorithm: all[1 - at] ?? '' },
        ),
      ),
    ),
    refuses('another signature_algorithm is refused', 'sign', {
      name: rsa,
      input: PLAIN,
      signature_algorithm: 'raw',
    }),
    holds('marshaling_algorithm is asn1 unless it is said', async (side) => {
      const signature = String(await signatureBy(await p256(side))(side));
      ok(Buffer.from(signature.split(':')[2] ?? '', 'base64')[0] === 0x30);
    }),
    ...['asn1', 'jws'].map((algorithm, at, all) =>
      holds(`marshaling_algorithm may be ${algorithm}`, async (side) =>
        agrees(
          side,
          await p256(side),
          { marshaling_algorithm: algorithm },
          { marshaling_algorithm: all[1 - at] ?? '' },
        ),
      ),
    ),
    refuses('another marshaling_algorithm is refused', 'sign', {
      name: p256,
      input: PLAIN,
      marshaling_algorithm: 'raw',
    }),
    refuses('a key that is not there is refused', 'sign', { name: freeName, input: PLAIN }),
  ],
};
