import { ok } from 'node:assert/strict';
import { aes, CONTEXT, convergent, derived, error, PLAIN, sealed } from './encryption-fixtures.ts';
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
  refuses,
} from './row.ts';

const decrypt: Chapter = {
  title: 'Decrypt data',
  rows: [
    gives(
      'the plaintext is answered in base64',
      'decrypt',
      { name: aes, ciphertext: sealed() },
      { plaintext: PLAIN },
    ),
    overHttp('ciphertext is needed', refuses('', 'decrypt', { name: aes }, /ciphertext/).check),
    refuses(
      'a text that is no ciphertext is refused',
      'decrypt',
      { name: aes, ciphertext: 'told' },
      /ciphertext/,
    ),
    refuses('a ciphertext without a version is refused', 'decrypt', {
      name: aes,
      ciphertext: 'service:AAAA',
    }),
    refuses(
      'a ciphertext of a version that there is not is refused',
      'decrypt',
      { name: aes, ciphertext: 'service:v9:AAAA' },
      /too new|no such version yet/,
    ),
    holds('a changed ciphertext is refused', async (side) => {
      const ciphertext = String(await sealed()(side));
      const changed = ciphertext.replace(
        /(.)(.{8})$/,
        (_all, one, rest) => `${one === 'A' ? 'B' : 'A'}${rest}`,
      );
      ok('refusal' in (await outcomeOf(side, 'decrypt', { name: aes, ciphertext: changed })));
    }),
    refuses('a ciphertext of another key is refused', 'decrypt', {
      name: key('chacha20-poly1305'),
      ciphertext: sealed(),
    }),
    holds('context is needed when the key is derived', async (side) => {
      const ciphertext = await member(
        'encrypt',
        { name: derived, plaintext: PLAIN, context: CONTEXT },
        'ciphertext',
      )(side);
      ok('refusal' in (await outcomeOf(side, 'decrypt', { name: derived, ciphertext })));
    }),
    holds('no nonce is needed for convergent keys of today', async (side) => {
      const ciphertext = await member(
        'encrypt',
        { name: convergent, plaintext: PLAIN, context: CONTEXT },
        'ciphertext',
      )(side);
      expectLike(await ask(side, 'decrypt', { name: convergent, ciphertext, context: CONTEXT }), {
        plaintext: PLAIN,
      });
    }),
    gives(
      'batch_input answers each item in its order',
      'decrypt',
      {
        name: aes,
        batch_input: [{ ciphertext: sealed() }, { ciphertext: sealed({ plaintext: b64('x') }) }],
      },
      { batch_results: [{ plaintext: PLAIN }, { plaintext: b64('x') }] },
    ),
    overHttp('top-level ciphertext, context and nonce are ignored beside batch_input', async (side) => {
      const more = { ciphertext: '***', context: '***', nonce: '***' };
      expectLike(
        await ask(side, 'decrypt', { name: aes, batch_input: [{ ciphertext: sealed() }], ...more }),
        {
          batch_results: [{ plaintext: PLAIN }],
        },
      );
    }),
    refuses('a key that is not there is refused', 'decrypt', { name: freeName, ciphertext: sealed() }),
  ],
};

const old = () => freshKey({}, 1);
const rewrap: Chapter = {
  title: 'Rewrap data',
  rows: [
    holds('the ciphertext is encrypted again with the latest version', async (side) => {
      const name = await old()(side);
      const ciphertext = await member('encrypt', { name, plaintext: PLAIN }, 'ciphertext')(side);
      await ask(side, 'rotate', { name });
      const again = await member('rewrap', { name, ciphertext }, 'ciphertext')(side);
      ok(String(again).startsWith('service:v2:'));
      expectLike(await ask(side, 'decrypt', { name, ciphertext: again }), { plaintext: PLAIN });
    }),
    gives(
      'the plaintext is never answered',
      'rewrap',
      { name: aes, ciphertext: sealed() },
      (data: unknown) => !JSON.stringify(data).includes('plaintext') && !JSON.stringify(data).includes(PLAIN),
    ),
    holds('key_version chooses the version', async (side) => {
      const name = await freshKey({}, 3)(side);
      const ciphertext = await member('encrypt', { name, plaintext: PLAIN }, 'ciphertext')(side);
      expectLike(await ask(side, 'rewrap', { name, ciphertext, key_version: 2 }), {
        ciphertext: /^service:v2:/,
      });
    }),
    holds('key_version may not be below min_encryption_version', async (side) => {
      const name = await freshKey({}, 3)(side);
      const ciphertext = await member('encrypt', { name, plaintext: PLAIN }, 'ciphertext')(side);
      await ask(side, 'config', { name, min_encryption_version: 3 });
      ok('refusal' in (await outcomeOf(side, 'rewrap', { name, ciphertext, key_version: 2 })));
    }),
    overHttp('ciphertext is needed', refuses('', 'rewrap', { name: aes }, /ciphertext/).check),
    holds('context is needed when the key is derived', async (side) => {
      const ciphertext = await member(
        'encrypt',
        { name: derived, plaintext: PLAIN, context: CONTEXT },
        'ciphertext',
      )(side);
      ok('refusal' in (await outcomeOf(side, 'rewrap', { name: derived, ciphertext })));
      expectLike(await ask(side, 'rewrap', { name: derived, ciphertext, context: CONTEXT }), {
        ciphertext: /^service:/,
      });
    }),
    gives(
      'batch_input answers each item in its order',
      'rewrap',
      {
        name: aes,
        batch_input: [{ ciphertext: sealed() }, { ciphertext: sealed() }],
      },
      { batch_results: [{ ciphertext: /^service:/ }, { ciphertext: /^service:/ }] },
    ),
    overHttp('top-level ciphertext, context and nonce are ignored beside batch_input', async (side) => {
      const more = { ciphertext: '***', context: '***', nonce: '***' };
      expectLike(await ask(side, 'rewrap', { name: aes, batch_input: [{ ciphertext: sealed() }], ...more }), {
        batch_results: [{ ciphertext: /^service:/ }],
      });
    }),
    refuses('a key that is not there is refused', 'rewrap', { name: freeName, ciphertext: sealed() }),
  ],
};

/** What each batch has as a good item, what it answers for it, and what it lacks otherwise. */
const BATCHES = [
  ['encrypt', async () => ({ plaintext: PLAIN }), 'ciphertext'],
  [
    'decrypt',
    async (side: Parameters<ReturnType<typeof sealed>>[0]) => ({ ciphertext: await sealed()(side) }),
    'plaintext',
  ],
  [
    'rewrap',
    async (side: Parameters<ReturnType<typeof sealed>>[0]) => ({ ciphertext: await sealed()(side) }),
    'ciphertext',
  ],
  ['hmac', async () => ({ input: PLAIN }), 'hmac'],
] as const;

const batches: Chapter = {
  title: 'Batch items',
  rows: BATCHES.flatMap(([operation, good, result]) =>
    (
      [
        ['that lacks its input', {}],
        ['that is null', null],
        ['that is a text', 'told'],
        ['that is a list', []],
        ['whose input is no base64', { plaintext: '*', ciphertext: 'service:v1:*', input: '*' }],
        ['whose input is a number', { plaintext: { a: 1 }, ciphertext: { a: 1 }, input: { a: 1 } }],
      ] as const
    ).map(([what, bad]) =>
      gives(
        `an item of ${operation} ${what} gets an error, and the others are processed`,
        operation,
        {
          name: aes,
          batch_input: [good, bad, good],
        },
        {
          batch_results: [
            { [result]: (value: unknown) => value !== undefined },
            error,
            { [result]: (value: unknown) => value !== undefined },
          ],
        },
      ),
    ),
  ),
};

export const transitDecrypt: readonly Chapter[] = [decrypt, rewrap, batches];
