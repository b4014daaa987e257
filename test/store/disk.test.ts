import { execFileSync } from 'node:child_process';
import { chmodSync, chownSync, mkdirSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { printPlace } from '../../src/ground/errors.ts';
import { initStore } from '../../src/store/administration/init.ts';
import { rekey } from '../../src/store/administration/slots.ts';
import { storeStatus } from '../../src/store/administration/status.ts';
import { diskError } from '../../src/store/backends/files/disk-errors.ts';
import { foreign } from '../../src/store/backends/files/durable-files.ts';
import { printChecked } from '../../src/store/checked-json.ts';
import { intoDocuments, KEY, newStoreDirectory, openWithKey, temporaryDirectory } from './temporary-store.ts';

const at = (id: string) => ({ collection: 'things', id });
const isRoot = process.geteuid?.() === 0;

/** Mounts a small disk of its own for the test; undefined where that is not allowed. */
function mountSmallDisk(kilobytes: number): string | undefined {
  const path = temporaryDirectory();
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${kilobytes}k,mode=0700`, 'tmpfs', path], {
      stdio: 'ignore',
    });
  } catch {
    return undefined;
  }
  onTestFinished(() => void execFileSync('umount', [path]));
  return path;
}

describe('a full disk', () => {
  it('refuses a change, says so, keeps what was there, and works again once there is room', async ({
    skip,
  }) => {
    const disk = mountSmallDisk(8192);
    if (disk === undefined) return skip('needs the right to mount a file system');
    const directory = join(disk, 'store');
    await initStore({ location: directory, slots: [{ kind: 'raw', key: Uint8Array.from(KEY) }] });
    const store = await openWithKey(directory);
    // Before the disk is unmounted: for a moment after a change, a store keeps its lock file open.
    onTestFinished(() => store.close());
    await store.transact((tx) => tx.put(at('one'), { n: 1 }));
    const filler = join(disk, 'filler');
    fill(filler);
    const refusal = {
      kind: 'unavailable',
      message: expect.stringMatching(/^cannot (write|create) .*: no space left on the disk$/),
      hint: 'free some space and try again',
    };
    // More than what the log has room for already.
    const big = { text: 'x'.repeat(1_200_000) };
    await expect(store.transact((tx) => tx.put(at('one'), big))).rejects.toMatchObject(refusal);
    const several = store.transact((tx) => {
      tx.put(at('one'), big);
      tx.put(at('two'), big);
    });
    await expect(several).rejects.toMatchObject(refusal);
    await expect(rekey(store)).rejects.toMatchObject(refusal);
    for (const open of [store, await openWithKey(directory)]) {
      expect(await open.read((view) => view.get(at('one')))).toEqual({ n: 1 });
      expect(await open.read((view) => view.list('things'))).toEqual(['one']);
    }
    expect(readdirSync(directory).sort()).toEqual(['coffer.json', 'generation-1', 'lock', 'log', 'state']);
    rmSync(filler);
    await store.transact((tx) => tx.put(at('two'), big));
    expect(await store.read((view) => view.get(at('two')))).toEqual(big);
  });

  it('refuses to make a store, and leaves nothing', async ({ skip }) => {
    const disk = mountSmallDisk(64);
    if (disk === undefined) return skip('needs the right to mount a file system');
    fill(join(disk, 'filler'));
    const directory = join(disk, 'store');
    const slots = [{ kind: 'raw', key: Uint8Array.from(KEY) } as const];
    await expect(initStore({ location: directory, slots })).rejects.toMatchObject({
      kind: 'unavailable',
      message: expect.stringContaining('no space left on the disk'),
    });
    expect(readdirSync(disk)).toEqual(['filler']);
  });
});

/** Writes until nothing more fits. */
function fill(path: string): void {
  writeFileSync(path, '');
  for (const size of [65_536, 4096, 512, 1]) {
    try {
      for (;;) writeFileSync(path, Buffer.alloc(size), { flag: 'a' });
    } catch {}
  }
}

describe('a read-only disk', () => {
  it('lets readers read, and refuses writers with the reason', async ({ skip }) => {
    const disk = mountSmallDisk(4096);
    if (disk === undefined) return skip('needs the right to mount a file system');
    const directory = join(disk, 'store');
    await initStore({ location: directory, slots: [{ kind: 'raw', key: Uint8Array.from(KEY) }] });
    const writer = await openWithKey(directory);
    await writer.transact((tx) => tx.put(at('one'), { n: 1 }));
    writer.close();
    execFileSync('mount', ['-o', 'remount,ro', disk]);
    const store = await openWithKey(directory);
    expect(await store.read((view) => view.get(at('one')))).toEqual({ n: 1 });
    expect((await storeStatus(directory)).slots).toHaveLength(1);
    await expect(store.transact((tx) => tx.put(at('two'), {}))).rejects.toMatchObject({
      kind: 'unavailable',
      message: `cannot write ${join(directory, 'lock')}: the file system is read-only`,
      hint: 'mount the file system writable, or work on a copy elsewhere',
    });
  });

  it('refuses without permissions with a look at the directory for its owner, and with a word about the owner for others', () => {
    const directory = temporaryDirectory();
    const hintFor = (file: string): unknown =>
      diskError(Object.assign(new Error(), { code: 'EACCES' }), 'write', file).hint;
    const look = `check the permissions: run "ls -la ${directory}"`;
    expect(hintFor(join(directory, 'lock'))).toBe(look);
    writeFileSync(join(directory, 'lock'), '');
    expect(hintFor(join(directory, 'lock'))).toBe(look);
    if (isRoot) chownSync(join(directory, 'lock'), 65_534, 65_534);
    else return;
    expect(hintFor(join(directory, 'lock'))).toBe(
      `run as the user that owns the store: put "sudo -u '#65534'" before the command`,
    );
  });

  it('refuses without permissions of their own with the command that adds them', () => {
    const directory = join(temporaryDirectory(), 'store');
    mkdirSync(directory, { mode: 0o700 });
    const [file, inside] = [join(directory, 'lock'), join(directory, 'state', 'record')];
    writeFileSync(file, '', { mode: 0o600 });
    mkdirSync(join(directory, 'state'), { mode: 0o700 });
    const hintFor = (action: 'read' | 'write' | 'create', path: string): unknown =>
      diskError(Object.assign(new Error(), { code: 'EACCES' }), action, path, 'use another place').hint;
    const hintAfter = (
      mode: number,
      path: string,
      action: 'read' | 'write' | 'create',
      what: string,
    ): unknown => {
      const { mode: before } = statSync(path);
      chmodSync(path, mode);
      const hint = hintFor(action, what);
      chmodSync(path, before);
      return hint;
    };
    expect(hintAfter(0o000, directory, 'read', file)).toBe(`run "chmod 700 ${directory}"`);
    expect(hintAfter(0o000, directory, 'read', directory)).toBe(`run "chmod 700 ${directory}"`);
    expect(hintAfter(0o000, directory, 'create', inside)).toBe(`run "chmod 700 ${directory}"`);
    expect(hintAfter(0o555, directory, 'create', join(directory, 'new'))).toBe(
      `run "chmod u+rwx ${directory}"`,
    );
    expect(hintAfter(0o500, directory, 'read', file)).toBe('use another place');
    expect(hintAfter(0o400, file, 'write', file)).toBe(`run "chmod 600 ${file}"`);
    expect(hintAfter(0o000, file, 'read', file)).toBe(`run "chmod 600 ${file}"`);
    expect(hintFor('write', file)).toBe('use another place');
  });

  it('refuses writers where only the permissions are missing', async ({ skip }) => {
    if (isRoot) return skip('root may write everywhere');
    const directory = await newStoreDirectory();
    const store = await openWithKey(directory);
    chmodSync(join(directory, 'lock'), 0o400);
    await expect(store.transact((tx) => tx.put(at('two'), {}))).rejects.toMatchObject({
      kind: 'unavailable',
      message: `cannot write ${join(directory, 'lock')}: permission denied`,
      hint: `run "chmod 600 ${join(directory, 'lock')}"`,
    });
    chmodSync(join(directory, 'lock'), 0o600);
    chmodSync(join(directory, 'state'), 0o500);
    await expect(store.transact((tx) => tx.put(at('two'), {}))).rejects.toMatchObject({
      kind: 'unavailable',
    });
    chmodSync(join(directory, 'state'), 0o700);
  });
});

describe('a store that others can write', () => {
  it.each([
    ['its directory', '.', 0o770],
    ['its directory, for everybody', '.', 0o702],
    ['the header', 'coffer.json', 0o660],
    ['the directory of its state', 'state', 0o707],
    ['the directory of its log', 'log', 0o707],
    ['a file of its log', 'log/1', 0o606],
    ['the directory of its documents', 'generation-1/documents', 0o770],
    ['the directory of its slots', 'generation-1/slots', 0o770],
  ])('is refused: %s', async (_, name, mode) => {
    const directory = await newStoreDirectory();
    const path = name === '.' ? directory : join(directory, name);
    chmodSync(path, mode);
    await expect(openWithKey(directory)).rejects.toMatchObject({
      kind: 'unavailable',
      message: `${path} can be written by other users (mode 0${mode.toString(8)})`,
      hint: `run "chmod go-w ${path}"`,
    });
    chmodSync(path, mode & ~0o022);
    await expect(openWithKey(directory)).resolves.toBeDefined();
  });

  it('is refused document by document', async () => {
    const directory = await newStoreDirectory();
    const store = await openWithKey(directory);
    await store.transact((tx) => tx.put(at('one'), {}));
    await intoDocuments(directory);
    const root = await store.keyring.root(store.backend, 1);
    const path = printPlace(store.backend.locate(1, root.refOf({ space: 'document', ...at('one') })));
    chmodSync(path, 0o666);
    await expect((await openWithKey(directory)).read((view) => view.get(at('one')))).rejects.toMatchObject({
      kind: 'unavailable',
      message: `${path} can be written by other users (mode 0666)`,
    });
  });

  it('is refused with the command that gives a file back, if only that belongs to another user', async ({
    skip,
  }) => {
    if (!isRoot) return skip('only root can give files away');
    const directory = await newStoreDirectory();
    const files = [join(directory, 'lock'), join(directory, 'log'), join(directory, 'generation-1', 'slots')];
    for (const path of files) {
      chownSync(path, 65_534, 65_534);
      expect(foreign(path, statSync(path))).toMatchObject({
        message: `${path} belongs to user 65534, you are user 0`,
        hint: `run "chown 0 ${path}"`,
      });
      chownSync(path, 0, 0);
    }
    chownSync(join(directory, 'log'), 65_534, 65_534);
    await expect(openWithKey(directory)).rejects.toMatchObject({
      hint: `run "chown 0 ${join(directory, 'log')}"`,
    });
    chownSync(join(directory, 'log'), 0, 0);
    // The whole store is another user's, and one file is not: its owner is whom to become.
    chownSync(directory, 65_534, 65_534);
    expect(foreign(join(directory, 'lock'), { uid: 1234, mode: 0o600 })?.hint).toMatch(
      /^run as .* "sudo -u '#65534'"/,
    );
  });

  it('is refused when it belongs to another user', async ({ skip }) => {
    if (!isRoot) return skip('only root can give files away');
    const directory = await newStoreDirectory();
    chownSync(directory, 65_534, 65_534);
    await expect(openWithKey(directory)).rejects.toMatchObject({
      kind: 'unavailable',
      message: `${directory} belongs to user 65534, you are user 0`,
      hint: `run as the user that owns the store: put "sudo -u '#65534'" before the command; do not run "chown -R 0", which would lock the owner out`,
    });
  });
});

describe('a directory', () => {
  it('without a store is not found', async () => {
    const directory = temporaryDirectory();
    for (const path of [directory, join(directory, 'nowhere')]) {
      await expect(openWithKey(path)).rejects.toMatchObject({
        kind: 'not-found',
        message: `no store in ${path}`,
        hint: 'run "coffer init" to create one, or use --store or COFFER_STORE',
      });
      await expect(storeStatus(path)).rejects.toMatchObject({ kind: 'not-found' });
    }
  });

  it('with files of something else is not found, and not offered as the place of a new store', async () => {
    const directory = temporaryDirectory();
    writeFileSync(join(directory, 'a.txt'), 'x');
    await expect(openWithKey(directory)).rejects.toMatchObject({
      kind: 'not-found',
      message: `no store in ${directory}`,
      hint: expect.stringMatching(/^the directory has other files: .*"coffer init --store DIR"/),
    });
  });

  it('with a store of a newer format is refused, and says so', async () => {
    const directory = await newStoreDirectory();
    const path = join(directory, 'coffer.json');
    writeFileSync(path, printChecked({ kind: 'coffer store', format: 3, anything: 'else' }));
    for (const attempt of [openWithKey(directory), storeStatus(directory)]) {
      await expect(attempt).rejects.toMatchObject({
        kind: 'corrupt',
        message: `${path} was created by a newer Coffer (format 3); this one reads format 2`,
        hint: 'install a newer Coffer; the store is not damaged',
      });
    }
  });

  it('with a store whose header has vanished is damaged, not empty', async () => {
    const directory = await newStoreDirectory();
    rmSync(join(directory, 'coffer.json'));
    await expect(openWithKey(directory)).rejects.toMatchObject({
      kind: 'corrupt',
      message: `${join(directory, 'coffer.json')} is missing`,
    });
    await expect(
      initStore({ location: directory, slots: [{ kind: 'raw', key: Uint8Array.from(KEY) }] }),
    ).rejects.toMatchObject({ kind: 'conflict', message: `${directory} is not empty` });
  });

  it('that cannot be made is refused with the reason', async () => {
    const file = join(temporaryDirectory(), 'file');
    writeFileSync(file, '');
    const slots = [{ kind: 'raw', key: Uint8Array.from(KEY) } as const];
    await expect(initStore({ location: join(file, 'store'), slots })).rejects.toMatchObject({
      kind: 'unavailable',
      message: `cannot create ${join(file, 'store')}: part of the path is not a directory`,
    });
  });

  it('is made with its parents, all private', async () => {
    const parent = temporaryDirectory();
    const directory = join(parent, 'a', 'b');
    await initStore({ location: directory, slots: [{ kind: 'raw', key: Uint8Array.from(KEY) }] });
    for (const path of [join(parent, 'a'), directory]) expect(statSync(path).mode & 0o777).toBe(0o700);
    mkdirSync(join(parent, 'c'), { mode: 0o700 });
    await initStore({ location: join(parent, 'c'), slots: [{ kind: 'raw', key: Uint8Array.from(KEY) }] });
  });
});
