import { notStrictEqual, ok } from 'node:assert/strict';
import { createHash, createHmac } from 'node:crypto';
import { issuedFor } from './callers.ts';
import { aes, bytesOf, CONTEXT, convergent, derived, PLAIN } from './encryption-fixtures.ts';
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
  outcomeOf,
  overHttp,
  type Params,
  refuses,
} from './row.ts';

const lengthIs =
  (bytes: number) =>
  (value: unknown): boolean =>
    bytesOf(value) === bytes;
const dataKey: Chapter = {
  title: 'Generate data key',
  rows: [
    gives(
      'plaintext answers the key and its ciphertext',
      'datakey',
      { type: 'plaintext', name: aes },
      {
        plaintext: lengthIs(32),
        ciphertext: /^service:v1:/,
      },
    ),
    gives(
      'wrapped answers the ciphertext alone',
      'datakey',
      { type: 'wrapped', name: aes },
      {
        ciphertext: /^service:v1:/,
        plaintext: (value: unknown) => value === undefined,
      },
    ),
    refuses('another type than those is refused', 'datakey', { type: 'both', name: aes }),
    ...[128, 256, 512].map((bits) =>
      gives(
        `bits may be ${bits}`,
        'datakey',
        { type: 'plaintext', name: aes, bits },
        { plaintext: lengthIs(bits / 8) },
      ),
    ),
    refuses('bits may not be anything else', 'datakey', { type: 'plaintext', name: aes, bits: 200 }, /bit/),
    holds('the ciphertext decrypts to the key', async (side) => {
      const data = (await ask(side, 'datakey', { type: 'plaintext', name: aes })) as Params;
      expectLike(await ask(side, 'decrypt', { name: aes, ciphertext: data['ciphertext'] }), {
        plaintext: data['plaintext'],
      });
    }),
    holds('every key is another one', async (side) => {
      const once = member('datakey', { type: 'plaintext', name: aes }, 'plaintext');
      notStrictEqual(await once(side), await once(side));
    }),
    refuses(
      'context is needed when the key is derived',
      'datakey',
      { type: 'wrapped', name: derived },
      /context/,
    ),
    gives(
      'context is taken when the key is derived',
      'datakey',
      { type: 'wrapped', name: derived, context: CONTEXT },
      {
        ciphertext: /^service:/,
      },
    ),
    gives(
      'no nonce is needed for convergent keys of today',
      'datakey',
      { type: 'wrapped', name: convergent, context: CONTEXT },
      {
        ciphertext: /^service:/,
      },
    ),
    refuses('a key that is not there is refused, and not made', 'datakey', {
      type: 'wrapped',
      name: freeName,
    }),
    overHttp('a policy may allow wrapped keys alone', async (side) => {
      const caller = await issuedFor(side, 'path "transit/datakey/wrapped/*" { capabilities = ["update"] }');
      const name = await aes(side);
      expectLike(await ask(caller, 'datakey', { type: 'wrapped', name }), { ciphertext: /^service:/ });
      ok('refusal' in (await outcomeOf(caller, 'datakey', { type: 'plaintext', name })));
    }),
  ],
};

const random: Chapter = {
  title: 'Generate random bytes',
  rows: [
    gives('32 bytes come unless another number is said', 'random', {}, { random_bytes: lengthIs(32) }),
    ...[1, 16, 32, 64, 1000].map((bytes) =>
      gives(
        `bytes may be ${bytes}, in the path`,
        'random',
        { 'url:bytes': bytes },
        { random_bytes: lengthIs(bytes) },
      ),
    ),
    overHttp('bytes may be in the body', async (side) =>
      expectLike(await ask(side, 'random', { bytes: 48 }), { random_bytes: lengthIs(48) }),
    ),
    gives(
      'format is base64 by default',
      'random',
      { 'url:bytes': 3 },
      { random_bytes: /^[A-Za-z0-9+/]{4}$/ },
    ),
    gives(
      'format may be base64',
      'random',
      { 'url:bytes': 3, format: 'base64' },
      { random_bytes: /^[A-Za-z0-9+/]{4}$/ },
    ),
    gives(
      'format may be hex',
      'random',
      { 'url:bytes': 3, format: 'hex' },
      { random_bytes: /^[0-9a-f]{6}$/ },
    ),
    refuses('another format is refused', 'random', { 'url:bytes': 3, format: 'octal' }),
    holds('they are other bytes each time', async (side) => {
      const once = member('random', {}, 'random_bytes');
      notStrictEqual(await once(side), await once(side));
    }),
  ],
};

const digest = (algorithm: string, encoding: 'hex' | 'base64'): string =>
  createHash(HASHES[algorithm] ?? '')
    .update('told')
    .digest(encoding);

const hash: Chapter = {
  title: 'Hash data',
  rows: [
    gives(
      'the algorithm is sha2-256 by default',
      'hash',
      { input: PLAIN },
      { sum: digest('sha2-256', 'hex') },
    ),
    ...Object.keys(HASHES).map((algorithm) =>
      gives(
        `the algorithm may be ${algorithm}, in the path`,
        'hash',
        { 'url:algorithm': algorithm, input: PLAIN },
        {
          sum: digest(algorithm, 'hex'),
        },
      ),
    ),
    overHttp('the algorithm may be in the body', async (side) =>
      expectLike(await ask(side, 'hash', { algorithm: 'sha2-512', input: PLAIN }), {
        sum: digest('sha2-512', 'hex'),
      }),
    ),
    gives('format is hex by default', 'hash', { input: PLAIN }, { sum: /^[0-9a-f]{64}$/ }),
    gives('format may be hex', 'hash', { input: PLAIN, format: 'hex' }, { sum: digest('sha2-256', 'hex') }),
    gives(
      'format may be base64',
      'hash',
      { input: PLAIN, format: 'base64' },
      { sum: digest('sha2-256', 'base64') },
    ),
    refuses('another format is refused', 'hash', { input: PLAIN, format: 'octal' }),
    refuses(
      'an algorithm that there is not is refused',
      'hash',
      { 'url:algorithm': 'md5', input: PLAIN },
      /algorithm/,
    ),
    refuses('input that is no base64 is refused', 'hash', { input: '*' }, /base64/),
    overHttp('input is needed', refuses('', 'hash', {}, /input/).check),
  ],
};

const hmac: Chapter = {
  title: 'Generate HMAC',
  rows: [
    gives(
      'the algorithm is sha2-256 by default',
      'hmac',
      { name: aes, input: PLAIN },
      {
        hmac: (text: unknown) => bytesOf(String(text).split(':')[2]) === 32,
      },
    ),
    ...Object.entries(HASHES).map(([algorithm, node]) =>
      holds(`the algorithm may be ${algorithm}, in the path`, async (side) => {
        const name = await key('aes256-gcm96', { exportable: true })(side);
        const secret = String(await member('export', { key_type: 'hmac-key', name }, 'keys', '1')(side));
        const expected = createHmac(node, Buffer.from(secret, 'base64')).update('told').digest('base64');
        expectLike(await ask(side, 'hmac', { name, 'url:algorithm': algorithm, input: PLAIN }), {
          hmac: `service:v1:${expected}`,
        });
      }),
    ),
    overHttp('the algorithm may be in the body', async (side) =>
      expectLike(await ask(side, 'hmac', { name: aes, algorithm: 'sha2-512', input: PLAIN }), {
        hmac: (text: unknown) => bytesOf(String(text).split(':')[2]) === 64,
      }),
    ),
    gives(
      'key_version chooses the version',
      'hmac',
      { name: freshKey({}, 2), input: PLAIN, key_version: 1 },
      { hmac: /^service:v1:/ },
    ),
    gives(
      'key_version of 0 is the latest',
      'hmac',
      { name: freshKey({}, 2), input: PLAIN, key_version: 0 },
      { hmac: /^service:v2:/ },
    ),
    gives('the empty input is one', 'hmac', { name: aes, input: '' }, { hmac: /^service:v1:/ }),
    overHttp('one of input and batch_input is needed', refuses('', 'hmac', { name: aes }, /input/).check),
    gives(
      'batch_input answers each item in its order',
      'hmac',
      { name: aes, batch_input: [{ input: PLAIN }, { input: b64('x') }] },
      {
        batch_results: [{ hmac: /^service:/ }, { hmac: /^service:/ }],
      },
    ),
    overHttp('input is ignored beside batch_input', async (side) =>
      expectLike(await ask(side, 'hmac', { name: aes, input: '***', batch_input: [{ input: PLAIN }] }), {
        batch_results: [{ hmac: /^service:/ }],
      }),
    ),
    refuses(
      'an algorithm that there is not is refused',
      'hmac',
      { name: aes, 'url:algorithm': 'md5', input: PLAIN },
      /algorithm/,
    ),
    refuses('a key that is not there is refused', 'hmac', { name: freeName, input: PLAIN }),
  ],
};

export const transitGenerate: readonly Chapter[] = [dataKey, random, hash, hmac];
