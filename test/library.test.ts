import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { inspect } from 'node:util';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { ERROR_KINDS } from '../src/ground/errors.ts';
import { type Coffer, CofferError, type OpenOptions, openStore } from '../src/library.ts';
import { initStore } from '../src/store/administration/init.ts';
import { builtCommand } from './built.ts';

const KEY = Buffer.alloc(32, 7);
let directory = '';
let coffer: Coffer;

beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'coffer-library-'));
  const location = join(directory, 'store');
  await initStore({ location, slots: [{ kind: 'raw', key: Buffer.from(KEY) }] });
  coffer = await openStore({ location, masterKey: KEY });
});
afterAll(() => {
  coffer.close();
  rmSync(directory, { recursive: true, force: true });
});

const refusedCall = (work: Promise<unknown>): Promise<CofferError> =>
  work.then(
    () => expect.fail('it was not refused'),
    (error: unknown) => error as CofferError,
  );

it('a program of release 0.1 is told what its option is called now', async () => {
  // As JavaScript, which no compiler has read.
  const older: object = { directory: '/nowhere', masterKey: 'x' };
  await expect(openStore(older as OpenOptions)).rejects.toMatchObject({
    kind: 'invalid',
    field: 'location',
    hint: 'use "location" instead of "directory"',
  });
});

describe('the library', () => {
  it('has the words of a parameter in its type, so that the compiler refuses a mistyped one', async () => {
    await coffer.transit.keys.create({ name: 'one', type: 'ed25519' });
    const input = Buffer.from('x').toString('base64');
    const calls = [
      // @ts-expect-error: there is a dash in it.
      () => coffer.transit.keys.create({ name: 'two', type: 'rsa4096' }),
      // @ts-expect-error: the name of OpenSSL.
      () => coffer.transit.hash({ input, algorithm: 'sha256' }),
      // @ts-expect-error: a word that there is not.
      () => coffer.transit.random({ bytes: 8, format: 'hexadecimal' }),
    ];
    for (const call of calls) await expect(call()).rejects.toMatchObject({ kind: 'invalid' });
  });

  it('refuses options and parameters that there are not, and a store without a secret at compile time', async () => {
    const location = join(directory, 'store');
    const { encrypt, keys } = coffer.transit;
    const calls = [
      // @ts-expect-error: without options.
      () => openStore(),
      // @ts-expect-error: the location alone.
      () => openStore(location),
      // @ts-expect-error: parameters one by one.
      () => encrypt('one', 'a text'),
      // @ts-expect-error: without a secret.
      () => openStore({ location }),
      // @ts-expect-error: mistyped.
      () => openStore({ location, masterkey: KEY }),
      // @ts-expect-error: mistyped.
      () => encrypt({ name: 'one', plaintext: '', contxt: 'YQ==' }),
      // @ts-expect-error: none at all.
      () => keys.list({ nonsense: 1 }),
      // @ts-expect-error: mistyped in an item.
      () => encrypt({ name: 'one', batch_input: [{ plaintxt: '' }] }),
    ];
    const errors = await Promise.all(calls.map((call) => call().catch((error: unknown) => error)));
    const sealed = { kind: 'sealed', message: 'the store is locked: no secret was given' };
    const didYouMean = (field: string, name: string) => ({
      kind: 'invalid',
      field,
      hint: `did you mean "${name}"?`,
    });
    expect(errors).toMatchObject([
      { kind: 'invalid', message: 'openStore needs the location of the store', field: 'location' },
      {
        kind: 'invalid',
        message: 'the options are not an object',
        hint: 'give one object, with location, and masterKey or passphrase',
      },
      { kind: 'invalid', message: 'the parameters are not an object' },
      sealed,
      didYouMean('masterkey', 'masterKey'),
      didYouMean('contxt', 'context'),
      { kind: 'invalid', field: 'nonsense', hint: 'use one of after, limit, tag, organization, mount' },
      didYouMean('plaintxt', 'plaintext'),
    ]);
    await expect(coffer.orgs.list({ mount: 'transit' })).rejects.toMatchObject({
      kind: 'invalid',
      field: 'mount',
      hint: expect.not.stringContaining('mount'),
    });
    await coffer.transit.keys.create({ name: 'same', type: undefined, nonsense: undefined } as {
      name: string;
    });
  });

  it('names the key that does not exist or may not be deleted in the message', async () => {
    const messageOf = (work: Promise<unknown>) => work.catch((error: Error) => error.message);
    expect(await messageOf(coffer.transit.keys.read({ name: 'nowhere' }))).toBe('key "nowhere" not found');
    const ciphertext = 'service:v1:AAAA';
    expect(await messageOf(coffer.transit.decrypt({ name: 'nowhere', ciphertext }))).toBe(
      'key "nowhere" not found',
    );
    await coffer.transit.keys.create({ name: 'kept' });
    expect(await messageOf(coffer.transit.keys.delete({ name: 'kept' }))).toBe('key kept may not be deleted');
  });

  it('has no options of the command line in its hints', async () => {
    const nowhere = openStore({ location: join(directory, 'nowhere'), masterKey: KEY });
    await expect(nowhere).rejects.toMatchObject({
      kind: 'not-found',
      hint: 'run "coffer init" to create one, or give another location',
    });
    await expect(coffer.transit.keys.rotate({ name: 'one' })).rejects.toMatchObject({
      hint: 'use force: true to rotate it anyway',
    });
    await expect(coffer.transit.keys.tag({ name: 'one', tags: ['a'] })).rejects.toMatchObject({
      hint: 'give the parameter organization',
    });
  });

  it('tells a wrong secret, none, one of another kind and a closed store apart', async () => {
    const location = join(directory, 'store');
    const messageOf = (work: Promise<unknown>) =>
      work.catch((error: unknown) => (error instanceof CofferError ? [error.kind, error.message] : error));
    expect(await messageOf(openStore({ location, masterKey: Buffer.alloc(32, 9) }))).toEqual([
      'denied',
      'the store cannot be unlocked with masterKey',
    ]);
    expect(await messageOf(openStore({ location, masterKey: undefined }))).toEqual([
      'sealed',
      'the store is locked: no secret was given',
    ]);
    expect(await messageOf(openStore({ location, passphrase: 'x' }))).toEqual([
      'sealed',
      'the store is locked: it has no key slot for passphrase',
    ]);
    const closed = await openStore({ location, masterKey: KEY });
    closed.close();
    expect(await messageOf(closed.transit.keys.list())).toEqual(['sealed', 'the store was closed']);
  });

  it('leaves the bytes of a secret as they are, whatever holds them, and the memory beside them', async () => {
    const location = join(directory, 'store');
    const inPassphrase = join(directory, 'with-passphrase');
    const passphrase = 'correct horse battery staple';
    await initStore({ location: inPassphrase, slots: [{ kind: 'passphrase', passphrase }] });
    const copied = (bytes: Uint8Array) => Uint8Array.from(bytes).buffer;
    const shared = new SharedArrayBuffer(KEY.length);
    new Uint8Array(shared).set(KEY);
    const view = new DataView(copied(KEY));
    const other = Buffer.from('another secret of the program');
    const keys: readonly unknown[] = [Uint8Array.from(KEY), copied(KEY), shared, view, [...KEY]];
    for (const masterKey of keys) {
      const opened = await openStore({ location, masterKey } as OpenOptions);
      opened.close();
      const bytes = ArrayBuffer.isView(masterKey) ? masterKey.buffer : (masterKey as ArrayBuffer);
      expect(Buffer.from(new Uint8Array(bytes))).toEqual(KEY);
    }
    const ofAll = openStore({ location, masterKey: other.buffer });
    await expect(ofAll).rejects.toMatchObject({ kind: 'invalid' });
    expect(other.toString()).toBe('another secret of the program');
    const typed = Buffer.from(passphrase);
    const opened = await openStore({ location: inPassphrase, passphrase: typed as unknown as string });
    opened.close();
    expect(typed.toString()).toBe(passphrase);
  });

  it('refuses a secret that is neither text nor bytes by its name', async () => {
    const location = join(directory, 'store');
    for (const name of ['masterKey', 'passphrase']) {
      for (const secret of [12, true, {}, () => KEY]) {
        const work = openStore({ location, [name]: secret } as unknown as OpenOptions);
        await expect(work).rejects.toMatchObject({
          kind: 'invalid',
          field: name,
          message: `${name} is neither text nor bytes`,
        });
      }
      const none = openStore({ location, [name]: null } as unknown as OpenOptions);
      await expect(none).rejects.toMatchObject({ message: 'the store is locked: no secret was given' });
    }
  });

  it('is described by a page, with every option, export, group of functions and kind of error', async () => {
    const page = readFileSync(fileURLToPath(new URL('../docs/library.md', import.meta.url)), 'utf8');
    const rows = [...page.matchAll(/^\| `([^`]+)`/gm)].map(([, name = '']) => name);
    const options: Required<OpenOptions> = { location: '', masterKey: '', passphrase: '' };
    expect(rows.filter((name) => (ERROR_KINDS as readonly string[]).includes(name)).sort()).toEqual(
      [...ERROR_KINDS].sort(),
    );
    expect(rows).toEqual(expect.arrayContaining(Object.keys(options)));
    const exported = Object.keys(await import('../src/library.ts')).sort();
    const headings = [...page.matchAll(/^## .*`(\w+)`/gm)].map(([, name]) => name).sort();
    expect(headings).toEqual(exported);
    const groups = Object.keys(coffer).map((name) => `coffer.${name}`);
    expect(rows.filter((name) => name.startsWith('coffer.')).sort()).toEqual(groups.sort());
  });

  it('works on the mount that is given, and on no other', async () => {
    await coffer.mounts.add({ type: 'transit', path: 'teams/payments' });
    await coffer.transit.keys.create({ name: 'apart', mount: 'teams/payments' });
    expect(await coffer.transit.keys.list({ mount: 'teams/payments' })).toMatchObject({ keys: ['apart'] });
    const elsewhere: unknown = await coffer.transit.keys
      .read({ name: 'apart' })
      .catch((error: unknown) => error);
    expect(elsewhere).toMatchObject({ kind: 'not-found' });
  });

  it('finds login methods where they usually are, and elsewhere with or without auth/ before the path', async () => {
    const { auth } = coffer;
    const lists = { approle: auth.approle, userpass: auth.userpass, cert: auth.cert, jwt: auth.jwt };
    for (const [method, { list }] of Object.entries(lists)) {
      const { message, hint } = await refusedCall(list());
      expect([message, hint]).toEqual([
        `no login method at "auth/${method}"`,
        `enable it with auth.enable({ type: '${method}' })`,
      ]);
    }
    await auth.enable({ type: 'userpass' });
    await auth.enable({ type: 'userpass', path: 'people' });
    await auth.userpass.write({ name: 'ada', password: 'correct horse', token_ttl: '1h' });
    await auth.userpass.write({ name: 'bob', password: 'correct horse', mount: 'people' });
    expect(await auth.userpass.login({ name: 'ada', password: 'correct horse' })).toMatchObject({
      lease_duration: 3600,
    });
    for (const mount of ['people', 'auth/people', '/auth/people/']) {
      expect(await auth.userpass.list({ mount })).toMatchObject({ keys: ['bob'] });
    }
    const twice = await refusedCall(auth.enable({ type: 'userpass' }));
    expect(twice.hint).toBe('use path for another one');
    const elsewhere = await refusedCall(auth.userpass.list({ mount: 'none' }));
    expect(elsewhere.hint).toBe("enable it with auth.enable({ type: 'userpass', path: 'none' })");
  });

  it('has durations as numbers of seconds and as text, also in its types', async () => {
    await coffer.transit.keys.create({ name: 'rotating', auto_rotate_period: '3h' });
    for (const auto_rotate_period of ['24h', 86_400, '86400']) {
      await coffer.transit.keys.config({ name: 'rotating', auto_rotate_period });
      expect(await coffer.transit.keys.read({ name: 'rotating' })).toMatchObject({
        auto_rotate_period: 86_400,
      });
    }
    // @ts-expect-error: no duration.
    const none = coffer.transit.keys.config({ name: 'rotating', auto_rotate_period: true });
    await expect(none).rejects.toMatchObject({ kind: 'invalid', field: 'auto_rotate_period' });
  });

  it('says what only a server can do, without options of the command line', async () => {
    expect(await refusedCall(coffer.sys.seal())).toMatchObject({
      kind: 'unsupported',
      hint: 'send the request to a server, over its HTTP API',
    });
  });

  it('finds its store after the program has changed its directory', async () => {
    const before = process.cwd();
    onTestFinished(() => process.chdir(before));
    process.chdir(directory);
    const opened = await openStore({ location: 'store', masterKey: KEY });
    process.chdir(tmpdir());
    await opened.transit.keys.create({ name: 'from-elsewhere' });
    opened.close();
    expect(await coffer.transit.keys.read({ name: 'from-elsewhere' })).toMatchObject({
      name: 'from-elsewhere',
    });
  });

  it('names its own functions in its hints', async () => {
    await coffer.transit.keys.create({ name: 'hinted' });
    const { keys } = coffer.transit;
    const [one, two] = ['hinted', 'none'];
    const hints = await Promise.all(
      [
        keys.delete({ name: one }),
        keys.export({ key_type: 'encryption-key', name: one }),
        keys.read({ name: two }),
        coffer.mounts.read({ path: 'nothing' }),
      ].map((work) => work.catch((error: unknown) => error instanceof CofferError && error.hint)),
    );
    expect(hints).toEqual([
      "call transit.keys.config({ name: 'hinted', deletion_allowed: true }) first",
      "call transit.keys.config({ name: 'hinted', exportable: true }) first; this cannot be undone",
      'call transit.keys.list() to list the keys',
      expect.stringContaining('mounts.list()'),
    ]);
  });

  it('prints of an error that nobody catches what helps, and no more', async () => {
    const error: unknown = await coffer.transit.keys
      .read({ name: 'none' })
      .catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(CofferError);
    const shown = inspect(error);
    expect(shown).toContain('CofferError: key not found');
    expect(shown).toMatch(/kind: 'not-found'/);
    expect(shown).not.toMatch(/texts|isGone|where|undefined/);
  });

  it.each(['20.20.2', '24.14.9'])('says to Node %s, in a sentence, which one it needs', (version) => {
    const built = fileURLToPath(new URL('../dist/library.js', `file://${builtCommand()}`));
    const script = `Object.defineProperty(process.versions, 'node', { value: '${version}' }); import('${built}')`;
    const { status, stderr } = spawnSync(process.execPath, ['-e', script], { encoding: 'utf8' });
    expect(status).toBe(1);
    expect(stderr).toContain(`Error: coffer needs Node 24.15 or newer, this is ${version} (install`);
  });

  it('gives its functions to a current Node', () => {
    const built = fileURLToPath(new URL('../dist/library.js', `file://${builtCommand()}`));
    const script = `import('${built}').then((all) => console.log(Object.keys(all).sort().join()))`;
    const { stdout } = spawnSync(process.execPath, ['-e', script], { encoding: 'utf8' });
    expect(stdout).toBe('CofferError,openStore\n');
  });
});
