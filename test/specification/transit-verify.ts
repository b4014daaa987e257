import { ok } from 'node:assert/strict';
import {
  ask,
  b64,
  type Chapter,
  expectLike,
  freeName,
  gives,
  holds,
  key,
  member,
  outcomeOf,
  overHttp,
  refuses,
} from './row.ts';
import {
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

const aes = key('aes256-gcm96');
const hmacBy = (name: unknown) => member('hmac', { name, input: PLAIN }, 'hmac');

export const verify: Chapter = {
  title: 'Verify signed data',
  rows: [
    gives(
      'valid is true for the signature of the input',
      'verify',
      { name: ed, input: PLAIN, signature: signatureBy(ed) },
      { valid: true },
    ),
    gives(
      'valid is false for that of another input',
      'verify',
      { name: ed, input: b64('tolt'), signature: signatureBy(ed) },
      {
        valid: false,
      },
    ),
    gives(
      'valid is true for the HMAC of the input',
      'verify',
      { name: aes, input: PLAIN, hmac: hmacBy(aes) },
      { valid: true },
    ),
    gives(
      'valid is false for the HMAC of another input',
      'verify',
      { name: aes, input: b64('tolt'), hmac: hmacBy(aes) },
      { valid: false },
    ),
    gives(
      'a signature of another key is not valid',
      'verify',
      { name: key('ed25519', { exportable: true }), input: PLAIN, signature: signatureBy(ed) },
      {
        valid: false,
      },
    ),
    refuses('signature or hmac is needed', 'verify', { name: ed, input: PLAIN }, /signature/),
    refuses('a text that is no signature is refused', 'verify', {
      name: ed,
      input: PLAIN,
      signature: 'told',
    }),
    refuses('a signature of a version that there is not is refused', 'verify', {
      name: ed,
      input: PLAIN,
      signature: 'service:v9:AAAA',
    }),
    overHttp('one of input and batch_input is needed', async (side) => {
      const outcome = await outcomeOf(side, 'verify', { name: ed, signature: signatureBy(ed) });
      ok('refusal' in outcome);
    }),
    holds('the empty input is one', async (side) => {
      const signature = await member('sign', { name: ed, input: '' }, 'signature')(side);
      expectLike(await ask(side, 'verify', { name: ed, input: '', signature }), { valid: true });
    }),
    overHttp('hash_algorithm may be in the body', async (side) => {
      const signature = await signatureBy(p256, { 'url:hash_algorithm': 'sha2-384' })(side);
      expectLike(
        await ask(side, 'verify', { name: p256, input: PLAIN, signature, hash_algorithm: 'sha2-384' }),
        { valid: true },
      );
    }),
    refuses('a hash that there is not is refused', 'verify', {
      name: p256,
      input: PLAIN,
      signature: signatureBy(p256),
      'url:hash_algorithm': 'md5',
    }),
    gives(
      'batch_input answers each signature in its order',
      'verify',
      {
        name: ed,
        batch_input: [
          { input: PLAIN, signature: signatureBy(ed) },
          { input: b64('tolt'), signature: signatureBy(ed) },
        ],
      },
      { batch_results: [{ valid: true }, { valid: false }] },
    ),
    gives(
      'batch_input answers each HMAC in its order',
      'verify',
      {
        name: aes,
        batch_input: [
          { input: PLAIN, hmac: hmacBy(aes) },
          { input: b64('tolt'), hmac: hmacBy(aes) },
        ],
      },
      { batch_results: [{ valid: true }, { valid: false }] },
    ),
    refuses('a batch that mixes signatures and HMACs is refused', 'verify', {
      name: ed,
      batch_input: [
        { input: PLAIN, signature: signatureBy(ed) },
        { input: PLAIN, hmac: hmacBy(ed) },
      ],
    }),
    ...(
      [
        ['that lacks its input', { signature: 'service:v1:AAAA' }],
        ['with neither signature nor hmac', { input: PLAIN }],
        ['that is null', null],
        ['that is a text', 'told'],
      ] as const
    ).map(([what, bad]) =>
      gives(
        `an item ${what} gets an error, and the others are verified`,
        'verify',
        {
          name: ed,
          batch_input: [
            { input: PLAIN, signature: signatureBy(ed) },
            bad,
            { input: PLAIN, signature: signatureBy(ed) },
          ],
        },
        { batch_results: [{ valid: true }, error, { valid: true }] },
      ),
    ),
    overHttp('top-level input, hmac and signature are ignored beside batch_input', async (side) => {
      const batch_input = [{ input: PLAIN, signature: signatureBy(ed) }];
      const data = await ask(side, 'verify', {
        name: ed,
        input: '*',
        hmac: '*',
        signature: '*',
        batch_input,
      });
      expectLike(data, { batch_results: [{ valid: true }] });
    }),
    refuses('context is needed when the key is derived', 'verify', {
      name: derived,
      input: PLAIN,
      signature: signatureBy(derived, { context: CONTEXT }),
    }),
    gives(
      'context is taken when the key is derived',
      'verify',
      {
        name: derived,
        input: PLAIN,
        context: CONTEXT,
        signature: signatureBy(derived, { context: CONTEXT }),
      },
      { valid: true },
    ),
    gives(
      'items of a batch have contexts of their own',
      'verify',
      {
        name: derived,
        batch_input: [
          { input: PLAIN, context: CONTEXT, signature: signatureBy(derived, { context: CONTEXT }) },
        ],
      },
      { batch_results: [{ valid: true }] },
    ),
    gives(
      'prehashed takes the hash',
      'verify',
      {
        name: rsa,
        input: digestOf('sha2-256'),
        prehashed: true,
        signature: signatureBy(rsa),
      },
      { valid: true },
    ),
    refuses('a key that is not there is refused', 'verify', {
      name: freeName,
      input: PLAIN,
      signature: signatureBy(ed),
    }),
  ],
};
