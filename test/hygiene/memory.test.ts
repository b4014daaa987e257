import { randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { beforeAll, describe, expect, it, vi } from 'vitest';
import { initStore } from '../../src/store/administration/init.ts';
import { emptyPlace, type Place, removePlace } from '../e2e/harness.ts';
import { cleanUpAfterAll, send } from '../servers/serving.ts';
import { canReadMemory, findInMemory } from './memory.ts';
import { childrenOf } from './processes.ts';
import { formsOf, type Needles, type StoreKeys, storeKeys, textFormsOf } from './secrets.ts';
import { watchServer, watchToEnd } from './watching.ts';

vi.mock('../../src/store/slots/key-encryption.ts', async (original) =>
  (await import('../light-argon2.ts')).withLightSlots(await original()),
);

const MASTER_KEY = randomBytes(32);
const PASSPHRASE = `correct horse ${randomBytes(12).toString('hex')}`;
const PLAINTEXT = `attack at dawn ${randomBytes(12).toString('hex')}`;

/** Ways to unlock a store in which the secret is never a text to JavaScript, and its forms. */
const SILENT: readonly (readonly [what: string, content: string | Uint8Array, secret: Needles])[] = [
  [
    'a master key in a file, as text',
    `${MASTER_KEY.toString('base64')}\n`,
    formsOf('master key', MASTER_KEY),
  ],
  ['a master key in a file, as bytes', MASTER_KEY, formsOf('master key', MASTER_KEY)],
  ['a passphrase in a file', `${PASSPHRASE}\n`, formsOf('passphrase', PASSPHRASE)],
];

const afterwards = cleanUpAfterAll();

interface World {
  readonly place: Place;
  readonly keys: StoreKeys;
  /** Of the AES key `orders`, as exported. */
  readonly material: Buffer;
  readonly token: string;
}

type Unlocked = Omit<World, 'place'> & { readonly bare: Place };

/** A store with keys of two types and a token; one for all that a master key opens, and one for the passphrase. */
async function makeStore(isPassphrase: boolean): Promise<Unlocked> {
  const bare = emptyPlace();
  afterwards(() => removePlace(bare));
  await initStore({
    location: bare.file('store'),
    slots: [
      isPassphrase
        ? { kind: 'passphrase', passphrase: PASSPHRASE }
        : { kind: 'raw', key: Uint8Array.from(MASTER_KEY) },
    ],
  });
  const place = bare.with(
    isPassphrase ? { COFFER_PASSPHRASE: PASSPHRASE } : { COFFER_MASTER_KEY: MASTER_KEY.toString('base64') },
  );
  await place.ok('transit keys create orders --exportable');
  const exported = (await place.json('transit keys export orders --key-type encryption-key')) as {
    readonly keys: Readonly<Record<string, string>>;
  };
  return {
    bare,
    keys: await storeKeys(
      place.file('store'),
      isPassphrase ? { passphrase: PASSPHRASE } : { key: MASTER_KEY },
    ),
    material: Buffer.from(exported.keys['1'] ?? '', 'base64'),
    token: await place.ok('token create --policy root'),
  };
}

const stores = new Map<boolean, Promise<Unlocked>>();

/** The store that the environment unlocks. */
async function world(
  environment: (place: Place) => Readonly<Record<string, string>>,
  isPassphrase = false,
): Promise<World> {
  const made = stores.get(isPassphrase) ?? makeStore(isPassphrase);
  stores.set(isPassphrase, made);
  const { bare, ...rest } = await made;
  return { ...rest, place: bare.with(environment(bare)) };
}

function inFile(content: string | Uint8Array) {
  return (place: Place): Readonly<Record<string, string>> => {
    writeFileSync(place.file('secret'), content, { mode: 0o600 });
    const isPassphrase = String(content).startsWith(PASSPHRASE);
    return { [isPassphrase ? 'COFFER_PASSPHRASE_FILE' : 'COFFER_MASTER_KEY_FILE']: place.file('secret') };
  };
}

const rawKeys = ({ keys, material }: World): Needles => ({ ...keys, material });

const keysAsText = ({ keys }: World): Needles =>
  Object.fromEntries(Object.entries(keys).flatMap(([name, key]) => Object.entries(textFormsOf(name, key))));

/** Encrypts and decrypts over HTTP, so that everything that a request needs has been in use. */
async function useServer(address: string, { token }: World): Promise<void> {
  const plaintext = Buffer.from(PLAINTEXT).toString('base64');
  const path = (operation: string, key: string): string => `/v1/transit/${operation}/${key}`;
  const encrypted = await send(address, 'POST', path('encrypt', 'orders'), { token, body: { plaintext } });
  const { ciphertext } = encrypted.json.data;
  const decrypted = await send(address, 'POST', path('decrypt', 'orders'), { token, body: { ciphertext } });
  expect(decrypted.json.data).toEqual({ plaintext });
}

/** OpenSSL's copy of a passphrase goes with the job that stretched it, when that is collected. */
const goneAtEnd = (secret: Needles): Needles => ('passphrase' in secret ? {} : secret);

const SERVE = 'serve --listen 127.0.0.1:0 -q';

/** So large that a process of its own takes it. */
async function sendLargeRequest(address: string, { token }: World): Promise<void> {
  const batch_input = Array.from({ length: 2000 }, () => ({
    plaintext: Buffer.alloc(40).toString('base64'),
  }));
  const reply = await send(address, 'POST', '/v1/transit/encrypt/orders', { token, body: { batch_input } });
  expect(reply.json.data.batch_results).toHaveLength(2000);
}

async function seal(address: string, { token }: World): Promise<void> {
  expect(await send(address, 'PUT', '/v1/sys/seal', { token })).toMatchObject({ status: 204 });
}

describe.skipIf(!canReadMemory).each(SILENT)(
  'the memory of a process unlocked by %s',
  (_, content, secret) => {
    let made: World;
    beforeAll(async () => {
      made = await world(inFile(content), 'passphrase' in secret);
    });

    it('holds nothing that unlocked it when a command has done its work, and no key as text', async () => {
      const { pid, stdout } = await watchToEnd(made.place, 'transit encrypt orders', {
        input: PLAINTEXT,
        keepsHeap: false,
      });
      expect(stdout).toMatch(/^service:v1:/);
      const { slotSecret, pairingKey } = made.keys;
      const needles = { ...goneAtEnd(secret), slotSecret, pairingKey, ...keysAsText(made) };
      expect(findInMemory(pid, needles)).toEqual({});
    });

    it('holds keys, but never as text, while a server runs, and none of them once it is sealed', async () => {
      const { pid, address } = await watchServer(made.place, SERVE);
      await useServer(address, made);
      const { keys, material } = made;
      // Were they not found here, nothing would follow from not finding them below.
      const present = { rootKey: expect.any(Number), material: expect.any(Number) };
      expect(findInMemory(pid, { rootKey: keys.rootKey, material })).toEqual(present);
      expect(findInMemory(pid, keysAsText(made))).toEqual({});
      await seal(address, made);
      expect(findInMemory(pid, { ...secret, ...rawKeys(made), ...keysAsText(made) })).toEqual({});
    });
  },
);

describe.skipIf(!canReadMemory)('the memory of a server of several processes', () => {
  let made: World;
  beforeAll(async () => {
    made = await world(inFile(MASTER_KEY));
  });
  /** What unlocked the server went to the others as text, which may stay. */
  const needles = (): Needles => ({ masterKey: MASTER_KEY, ...rawKeys(made) });

  it('holds no key in any of its workers once it is sealed', async () => {
    const { pid, address } = await watchServer(made.place, `${SERVE} --workers 2`);
    await useServer(address, made);
    await seal(address, made);
    const workers = childrenOf(pid);
    expect(workers).toHaveLength(2);
    for (const process of [pid, ...workers]) expect(findInMemory(process, needles())).toEqual({});
  });

  it('is one process alone once it is sealed, and holds no key', async () => {
    const { pid, address } = await watchServer(made.place, SERVE);
    await sendLargeRequest(address, made);
    expect(childrenOf(pid)).toHaveLength(1);
    await seal(address, made);
    expect(childrenOf(pid)).toEqual([]);
    expect(findInMemory(pid, needles())).toEqual({});
  });
});

describe.each([
  ['COFFER_MASTER_KEY', () => ({ COFFER_MASTER_KEY: MASTER_KEY.toString('base64') })],
  ['COFFER_PASSPHRASE', () => ({ COFFER_PASSPHRASE: PASSPHRASE })],
  [
    'COFFER_MASTER_KEY_COMMAND',
    (place: Place) => {
      writeFileSync(place.file('secret'), MASTER_KEY.toString('base64'), { mode: 0o600 });
      return { COFFER_MASTER_KEY_COMMAND: `cat ${place.file('secret')}` };
    },
  ],
  ['COFFER_PASSPHRASE_FILE', inFile(`${PASSPHRASE}\n`)],
])('what JavaScript can reach in a process unlocked by %s', (variable, environment) => {
  let made: World;
  const secrets = { ...formsOf('master key', MASTER_KEY), ...formsOf('passphrase', PASSPHRASE) };
  let needles: Needles;
  beforeAll(async () => {
    made = await world(environment, variable.includes('PASSPHRASE'));
    needles = {
      ...secrets,
      ...formsOf('plaintext', PLAINTEXT),
      ...formsOf('material', made.material),
      ...keysAsText(made),
    };
  });

  it('is no secret when a command has done its work', async () => {
    const watched = await watchToEnd(made.place, 'transit encrypt orders', { input: PLAINTEXT });
    expect(await watched.heapHolds(needles)).toEqual([]);
  });

  it('is nothing that unlocked it and no key while a server runs, and no data either once it is sealed', async () => {
    const watched = await watchServer(made.place, SERVE);
    await useServer(watched.address, made);
    expect(await watched.heapHolds({ ...secrets, ...keysAsText(made) })).toEqual([]);
    await seal(watched.address, made);
    expect(await watched.heapHolds(needles)).toEqual([]);
  });
});
