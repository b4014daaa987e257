import { ok } from 'node:assert/strict';
import { issuedFor } from './callers.ts';
import { aes, CONTEXT, convergent, derived, OTHER, PLAIN, sealed } from './encryption-fixtures.ts';
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

const strings: Chapter = {
  title: 'Ciphertext, signature and HMAC strings',
  rows: [
    gives(
      'a ciphertext has the form service:v1:BASE64',
      'encrypt',
      { name: aes, plaintext: PLAIN },
      {
        ciphertext: /^service:v1:[A-Za-z0-9+/]+=*$/,
      },
    ),
    gives(
      'a signature has the form service:v1:BASE64',
      'sign',
      { name: key('ed25519'), input: PLAIN },
      {
        signature: /^service:v1:[A-Za-z0-9+/]+=*$/,
      },
    ),
    gives(
      'an HMAC has the form service:v1:BASE64',
      'hmac',
      { name: aes, input: PLAIN },
      {
        hmac: /^service:v1:[A-Za-z0-9+/]+=*$/,
      },
    ),
    gives(
      'what rewrap answers has the form service:v1:BASE64',
      'rewrap',
      { name: aes, ciphertext: sealed() },
      {
        ciphertext: /^service:v1:[A-Za-z0-9+/]+=*$/,
      },
    ),
    gives(
      'the number behind the v of a ciphertext is the version',
      'encrypt',
      { name: freshKey({}, 3), plaintext: PLAIN },
      {
        ciphertext: /^service:v3:/,
      },
    ),
    gives(
      'the number behind the v of an HMAC is the version',
      'hmac',
      { name: freshKey({}, 3), input: PLAIN },
      {
        hmac: /^service:v3:/,
      },
    ),
  ],
};

const encrypt: Chapter = {
  title: 'Encrypt data',
  rows: [
    gives(
      'the ciphertext is answered',
      'encrypt',
      { name: aes, plaintext: PLAIN },
      { ciphertext: /^service:v1:/ },
    ),
    holds('any bytes may be encrypted', async (side) => {
      const plaintext = Buffer.from(Array.from({ length: 256 }, (_, byte) => byte)).toString('base64');
      const ciphertext = await sealed({ plaintext })(side);
      expectLike(await ask(side, 'decrypt', { name: aes, ciphertext }), { plaintext });
    }),
    holds('the empty text may be encrypted', async (side) => {
      const ciphertext = await sealed({ plaintext: '' })(side);
      expectLike(await ask(side, 'decrypt', { name: aes, ciphertext }), { plaintext: '' });
    }),
    overHttp('plaintext is needed', refuses('', 'encrypt', { name: aes }, /plaintext/).check),
    refuses('plaintext that is no base64 is refused', 'encrypt', { name: aes, plaintext: '****' }, /base64/),
    refuses(
      'context is needed when the key is derived',
      'encrypt',
      { name: derived, plaintext: PLAIN },
      /context/,
    ),
    refuses(
      'context that is no base64 is refused',
      'encrypt',
      { name: derived, plaintext: PLAIN, context: '*' },
      /base64/,
    ),
    holds('ciphertexts of one context are not those of another', async (side) => {
      const ciphertext = await member(
        'encrypt',
        { name: derived, plaintext: PLAIN, context: CONTEXT },
        'ciphertext',
      )(side);
      ok('refusal' in (await outcomeOf(side, 'decrypt', { name: derived, ciphertext, context: OTHER })));
    }),
    gives(
      'key_version chooses the version',
      'encrypt',
      { name: freshKey({}, 3), plaintext: PLAIN, key_version: 2 },
      {
        ciphertext: /^service:v2:/,
      },
    ),
    gives(
      'key_version of 0 is the latest',
      'encrypt',
      { name: freshKey({}, 3), plaintext: PLAIN, key_version: 0 },
      {
        ciphertext: /^service:v3:/,
      },
    ),
    refuses('a version that there is not is refused', 'encrypt', {
      name: aes,
      plaintext: PLAIN,
      key_version: 9,
    }),
    refuses(
      'a nonce is of 12 bytes',
      'encrypt',
      { name: convergent, plaintext: PLAIN, context: CONTEXT, nonce: b64('short') },
      /nonce/,
    ),
    gives(
      'no nonce is needed for convergent keys of today',
      'encrypt',
      { name: convergent, plaintext: PLAIN, context: CONTEXT },
      {
        ciphertext: /^service:v1:/,
      },
    ),
    gives(
      'batch_input answers each item in its order',
      'encrypt',
      {
        name: aes,
        batch_input: [{ plaintext: PLAIN }, { plaintext: b64('x') }],
      },
      { batch_results: [{ ciphertext: /^service:/ }, { ciphertext: /^service:/ }] },
    ),
    gives(
      'items of a batch have contexts of their own',
      'encrypt',
      {
        name: derived,
        batch_input: [
          { plaintext: PLAIN, context: CONTEXT },
          { plaintext: PLAIN, context: OTHER },
        ],
      },
      { batch_results: [{ ciphertext: /^service:/ }, { ciphertext: /^service:/ }] },
    ),
    overHttp('top-level plaintext, context and nonce are ignored beside batch_input', async (side) => {
      const more = { plaintext: '***', context: '***', nonce: '***' };
      expectLike(await ask(side, 'encrypt', { name: aes, batch_input: [{ plaintext: PLAIN }], ...more }), {
        batch_results: [{ ciphertext: /^service:/ }],
      });
    }),
    gives(
      'type is the type of a key that is made by it',
      'encrypt',
      { name: 'made-aes128', plaintext: PLAIN, type: 'aes128-gcm96' },
      {
        ciphertext: /^service:v1:/,
      },
    ),
    holds('the key that is made has that type', async (side) => {
      const name = await freeName();
      await ask(side, 'encrypt', { name, plaintext: PLAIN, type: 'chacha20-poly1305' });
      expectLike(await ask(side, 'read', { name }), { type: 'chacha20-poly1305' });
    }),
    holds('type is looked at only when a key is made', async (side) => {
      await ask(side, 'encrypt', { name: aes, plaintext: PLAIN, type: 'chacha20-poly1305' });
      expectLike(await ask(side, 'read', { name: aes }), { type: 'aes256-gcm96' });
    }),
    refuses(
      'convergent_encryption makes every request carry a context',
      'encrypt',
      {
        name: freeName,
        plaintext: PLAIN,
        convergent_encryption: true,
      },
      /context/,
    ),
    holds('convergent_encryption makes a convergent key', async (side) => {
      const name = await freeName();
      await ask(side, 'encrypt', { name, plaintext: PLAIN, context: CONTEXT, convergent_encryption: true });
      expectLike(await ask(side, 'read', { name }), { derived: true, convergent_encryption: true });
    }),
    holds('a key that is missing is made with default values', async (side) => {
      const name = await freeName();
      await ask(side, 'encrypt', { name, plaintext: PLAIN });
      expectLike(await ask(side, 'read', { name }), {
        type: 'aes256-gcm96',
        derived: false,
        exportable: false,
      });
    }),
    holds('a key that is missing is made derived where there is a context', async (side) => {
      const name = await freeName();
      await ask(side, 'encrypt', { name, plaintext: PLAIN, context: CONTEXT });
      expectLike(await ask(side, 'read', { name }), { derived: true });
    }),
    overHttp('who may only update makes no key, and gets an error', async (side) => {
      const caller = await issuedFor(side, 'path "transit/encrypt/*" { capabilities = ["update"] }');
      ok('refusal' in (await outcomeOf(caller, 'encrypt', { name: freeName, plaintext: PLAIN })));
      await ask(caller, 'encrypt', { name: await aes(side), plaintext: PLAIN });
    }),
    overHttp('who may create makes one', async (side) => {
      const caller = await issuedFor(
        side,
        'path "transit/encrypt/*" { capabilities = ["create", "update"] }',
      );
      await ask(caller, 'encrypt', { name: freeName, plaintext: PLAIN });
    }),
  ],
};

export const transitEncrypt: readonly Chapter[] = [strings, encrypt];
