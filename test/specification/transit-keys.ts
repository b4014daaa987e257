import { notStrictEqual, ok, strictEqual } from 'node:assert/strict';
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
  type Row,
  refuses,
} from './row.ts';
import type { Side } from './sides.ts';

const SYMMETRIC = ['aes128-gcm96', 'aes256-gcm96', 'chacha20-poly1305'];
const RSA = ['rsa-2048', 'rsa-3072', 'rsa-4096'];
const ECDSA = ['ecdsa-p256', 'ecdsa-p384', 'ecdsa-p521'];
const ASYMMETRIC = ['ed25519', ...ECDSA, ...RSA];
export const TYPES = [...SYMMETRIC, ...ASYMMETRIC];
const CONTEXT = b64('a context');
const exists = (value: unknown): boolean => value !== undefined;
const isTime = (value: unknown): boolean =>
  Number.isInteger(value) && Math.abs(Number(value) - Date.now() / 1000) < 600;

const make = (settings: Params) => ({ name: freeName, ...settings });

/** `[member, what it is when nobody says]` of a key that was just made. */
const DEFAULTS: [string, unknown][] = [
  ['type', 'aes256-gcm96'],
  ['derived', false],
  ['exportable', false],
  ['allow_plaintext_backup', false],
  ['deletion_allowed', false],
  ['min_encryption_version', 0],
];

const derives = (type: string): boolean => SYMMETRIC.includes(type) || type === 'ed25519';

/** Asks for one encryption, and for the plaintext of it. */
async function roundTrip(side: Side, name: string, more: Params = {}): Promise<void> {
  const ciphertext = await member('encrypt', { name, plaintext: b64('told'), ...more }, 'ciphertext')(side);
  expectLike(await ask(side, 'decrypt', { name, ciphertext, ...more }), { plaintext: b64('told') });
}

async function signatureHolds(side: Side, name: string, more: Params = {}): Promise<void> {
  const input = b64('told');
  const signature = await member('sign', { name, input, ...more }, 'signature')(side);
  expectLike(await ask(side, 'verify', { name, input, signature, ...more }), { valid: true });
  const other = await ask(side, 'verify', { name, input: b64('tolt'), signature, ...more });
  expectLike(other, { valid: false });
}

const namedKey: Chapter = {
  title: 'Named key',
  rows: [
    ...DEFAULTS.map(([name, value]) =>
      gives(`${name} of a key is ${value} by default`, 'create', make({}), { [name]: value }),
    ),
    gives('convergent encryption is off by default', 'create', make({ derived: true }), {
      convergent_encryption: false,
    }),
    holds('a derived key needs a context to encrypt', async (side) => {
      const name = await key('aes256-gcm96', { derived: true })(side);
      ok('refusal' in (await outcomeOf(side, 'encrypt', { name, plaintext: b64('x') })));
    }),
    holds('a derived key needs a context to decrypt', async (side) => {
      const name = await key('aes256-gcm96', { derived: true })(side);
      const ciphertext = await member(
        'encrypt',
        { name, plaintext: b64('x'), context: CONTEXT },
        'ciphertext',
      )(side);
      ok('refusal' in (await outcomeOf(side, 'decrypt', { name, ciphertext })));
      expectLike(await ask(side, 'decrypt', { name, ciphertext, context: CONTEXT }), { plaintext: b64('x') });
    }),
    refuses(
      'convergent encryption needs a derived key',
      'create',
      make({ convergent_encryption: true }),
      /derivation|must be derived/,
    ),
    ...SYMMETRIC.map((type) =>
      holds(
        `with convergent encryption the same plaintext gives the same ciphertext, of ${type}`,
        async (side) => {
          const name = await key(type, { derived: true, convergent_encryption: true })(side);
          const once = member('encrypt', { name, plaintext: b64('same'), context: CONTEXT }, 'ciphertext');
          strictEqual(await once(side), await once(side));
        },
      ),
    ),
    holds('without it the same plaintext gives another ciphertext each time', async (side) => {
      const once = member('encrypt', { name: key('aes256-gcm96'), plaintext: b64('same') }, 'ciphertext');
      notStrictEqual(await once(side), await once(side));
    }),
    holds('exportable, once set, cannot be disabled', async (side) => {
      const name = await freshKey({ exportable: true })(side);
      await outcomeOf(side, 'config', { name, exportable: false, min_encryption_version: 0 });
      expectLike(await ask(side, 'read', { name }), { exportable: true });
    }),
    holds('allow_plaintext_backup, once set, cannot be disabled', async (side) => {
      const name = await freshKey({ allow_plaintext_backup: true })(side);
      await outcomeOf(side, 'config', { name, allow_plaintext_backup: false, min_encryption_version: 0 });
      expectLike(await ask(side, 'read', { name }), { allow_plaintext_backup: true });
    }),
    holds('the values of its creation cannot be changed by creating it again', async (side) => {
      const name = await freshKey()(side);
      await outcomeOf(side, 'create', { name, type: 'ed25519', derived: true });
      expectLike(await ask(side, 'read', { name }), { type: 'aes256-gcm96', derived: false });
    }),
  ],
};

const keyTypes: Chapter = {
  title: 'Key types',
  rows: TYPES.flatMap((type): Row[] => {
    const symmetric = SYMMETRIC.includes(type);
    const encrypts = symmetric || RSA.includes(type);
    return [
      gives(`${type} is a key type`, 'read', { name: key(type) }, { type }),
      gives(
        `${type} says whether it encrypts and decrypts`,
        'read',
        { name: key(type) },
        {
          supports_encryption: encrypts,
          supports_decryption: encrypts,
        },
      ),
      gives(`${type} says whether it signs`, 'read', { name: key(type) }, { supports_signing: !symmetric }),
      gives(
        `${type} says whether it derives`,
        'read',
        { name: key(type) },
        { supports_derivation: derives(type) },
      ),
      symmetric
        ? holds(`${type}, a symmetric type, encrypts and decrypts`, async (side) =>
            roundTrip(side, await key(type)(side)),
          )
        : holds(`${type}, an asymmetric type, signs and verifies`, async (side) =>
            signatureHolds(side, await key(type)(side)),
          ),
      symmetric
        ? refuses(`${type} does not sign`, 'sign', { name: key(type), input: b64('x') }, /sign/)
        : gives(
            `${type} shows the public key of each version`,
            'read',
            { name: key(type) },
            {
              keys: { 1: { public_key: (text: unknown) => String(text).length > 40 } },
            },
          ),
      derives(type)
        ? holds(`${type} supports derivation, with another key for each context`, async (side) => {
            const name = await key(type, { derived: true })(side);
            if (symmetric) await roundTrip(side, name, { context: CONTEXT });
            else await signatureHolds(side, name, { context: CONTEXT });
          })
        : refuses(
            `${type} does not support derivation`,
            'create',
            make({ type, derived: true }),
            /derivation/,
          ),
      SYMMETRIC.includes(type)
        ? holds(`${type} supports convergent encryption`, async (side) =>
            roundTrip(side, await key(type, { derived: true, convergent_encryption: true })(side), {
              context: CONTEXT,
            }),
          )
        : refuses(
            `${type} does not support convergent encryption`,
            'create',
            make({ type, derived: true, convergent_encryption: true }),
            /convergent/,
          ),
      gives(
        `${type} serves as the key of an HMAC`,
        'hmac',
        { name: key(type), input: b64('x') },
        {
          hmac: /^service:v1:/,
        },
      ),
    ];
  }),
};

const createKey: Chapter = {
  title: 'Create key',
  rows: [
    overHttp(
      'keys are created by POST of the name',
      async (side) => void (await ask(side, 'create', make({}))),
    ),
    gives('the name is that of the path', 'create', { name: 'called-so' }, { name: 'called-so' }),
    ...TYPES.filter((type) => !RSA.includes(type)).map((type) =>
      gives(`type may be ${type}`, 'create', make({ type }), { type }),
    ),
    gives('type may be rsa-2048', 'read', { name: key('rsa-2048') }, { type: 'rsa-2048' }),
    gives('type may be rsa-3072', 'read', { name: key('rsa-3072') }, { type: 'rsa-3072' }),
    gives('type may be rsa-4096', 'read', { name: key('rsa-4096') }, { type: 'rsa-4096' }),
    refuses('a type that there is not is refused', 'create', make({ type: 'aes64' }), /unknown key type/),
    ...(['derived', 'exportable', 'allow_plaintext_backup'] as const).map((name) =>
      gives(`${name} may be set`, 'create', make({ [name]: true }), { [name]: true }),
    ),
    gives(
      'convergent_encryption may be set for a derived key',
      'create',
      make({ derived: true, convergent_encryption: true }),
      {
        convergent_encryption: true,
      },
    ),
    refuses('a name needs letters, digits and what goes between them', 'create', { name: '-x-' }),
  ],
};

const READ_MEMBERS: [string, (value: unknown) => boolean][] = [
  ['type', (value) => value === 'aes256-gcm96'],
  ...['deletion_allowed', 'derived', 'exportable', 'allow_plaintext_backup'].map(
    (name): [string, (value: unknown) => boolean] => [name, (value) => typeof value === 'boolean'],
  ),
  ...['supports_encryption', 'supports_decryption', 'supports_derivation', 'supports_signing'].map(
    (name): [string, (value: unknown) => boolean] => [name, (value) => typeof value === 'boolean'],
  ),
  ['min_decryption_version', Number.isInteger],
  ['min_encryption_version', Number.isInteger],
  ['name', (value) => typeof value === 'string'],
];

const readKey: Chapter = {
  title: 'Read key',
  rows: [
    ...READ_MEMBERS.map(([name, test]) =>
      gives(`${name} is answered`, 'read', { name: key('aes256-gcm96') }, { [name]: test }),
    ),
    gives(
      'keys maps each version to its time in Unix seconds',
      'read',
      { name: freshKey({}, 2) },
      {
        keys: { 1: isTime, 2: isTime },
      },
    ),
    ...ASYMMETRIC.map((type) =>
      gives(
        `keys of ${type} have a public key beside the time`,
        'read',
        { name: key(type) },
        {
          keys: { 1: { public_key: exists, creation_time: /^\d{4}-\d\d-\d\dT/ } },
        },
      ),
    ),
    holds('no member shows key material', async (side) => {
      const name = await key('aes256-gcm96', { exportable: true })(side);
      const secret = await member('export', { key_type: 'encryption-key', name }, 'keys', '1')(side);
      ok(!JSON.stringify(await ask(side, 'read', { name })).includes(String(secret)));
    }),
    refuses('a key that is not there is refused', 'read', { name: freeName }),
  ],
};

const listKeys: Chapter = {
  title: 'List keys',
  rows: [
    holds('keys is an array of names', async (side) => {
      const name = await freshKey()(side);
      const data = await ask(side, 'list');
      expectLike(data, { keys: (keys: unknown) => (keys as unknown[]).includes(name) });
    }),
    holds('nothing but names is told', async (side) => {
      const { keys } = (await ask(side, 'list')) as { keys: unknown[] };
      ok(keys.every((one) => typeof one === 'string'));
    }),
    ...(['lease_duration', 'lease_id', 'renewable'] as const).map((name) =>
      overHttp(`the top level has ${name}`, async (side) => {
        const { json } = await (
          side as unknown as { reply(...args: unknown[]): Promise<{ json: unknown }> }
        ).reply('list', {});
        expectLike(json, { [name]: exists });
      }),
    ),
  ],
};

export const transitKeys: readonly Chapter[] = [namedKey, keyTypes, createKey, readKey, listKeys];
