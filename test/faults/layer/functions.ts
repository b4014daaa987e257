import fs, { constants, type existsSync, type lstatSync, type readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { type Describe, type Halves, original, pathOf, type Wrapping } from './layer.ts';
import type { Call } from './plan.ts';

const MAKING = constants.O_CREAT | constants.O_TRUNC;
const WRITING = constants.O_WRONLY | constants.O_RDWR | constants.O_APPEND;

const onPath =
  (kind: Call['kind']): Describe =>
  ([target]) => ({ kind, path: pathOf(target) });

const onTwo =
  (kind: Call['kind']): Describe =>
  ([from, to]) => ({ kind, path: pathOf(from), to: pathOf(to) });

const opening: Describe = ([path, flags]) => ({ kind: kindOfOpening(flags), path: pathOf(path) });

function kindOfOpening(flags: unknown): Call['kind'] {
  if (typeof flags !== 'number') {
    const letters = String(flags ?? 'r');
    return /[wa]/.test(letters) ? 'create' : letters.includes('+') ? 'reopen' : 'open';
  }
  if ((flags & MAKING) !== 0) return 'create';
  return (flags & WRITING) !== 0 ? 'reopen' : 'open';
}

/** Standard output is where a change is acknowledged. */
const writing: Describe = ([fd]) =>
  fd === 1 ? { kind: 'print', path: 'standard output' } : { kind: 'write', path: pathOf(fd) };

/** Of `write(fd, buffer, offset?, length?, position?)`. */
const halvesOfWrite: Halves = {
  first(parameters) {
    const { fd, data, from, size, position } = writeOf(parameters);
    return [fd, data, from, Math.ceil(size / 2), position];
  },
  second(parameters, done) {
    const { fd, data, from, size, position } = writeOf(parameters);
    return [fd, data, from + done, size - done, position === null ? null : position + done];
  },
};

function writeOf([fd, data, offset, length, position]: readonly unknown[]) {
  if (!(data instanceof Uint8Array)) throw new Error('a write of something else than bytes');
  const from = typeof offset === 'number' ? offset : 0;
  const size = typeof length === 'number' ? length : data.length - from;
  return { fd, data, from, size, position: typeof position === 'number' ? position : null };
}

const METHODS: Readonly<Record<string, (path: string) => Call>> = {
  write: (path) => ({ kind: 'write', path }),
  sync: (path) => ({ kind: 'sync', path }),
  datasync: (path) => ({ kind: 'sync', path }),
  truncate: (path) => ({ kind: 'truncate', path }),
  read: (path) => ({ kind: 'read', path }),
  stat: (path) => ({ kind: 'stat', path }),
};

/** Every function of node:fs that the layer can strike. */
export function wrapFileSystem(layer: Wrapping): void {
  layer.sync('openSync', opening);
  layer.sync('writeSync', writing, halvesOfWrite);
  layer.callback('write', writing, halvesOfWrite);
  for (const name of ['fsyncSync', 'fdatasyncSync']) layer.sync(name, onPath('sync'));
  for (const name of ['fsync', 'fdatasync']) layer.callback(name, onPath('sync'));
  wrapNames(layer);
  wrapLooks(layer);
  layer.handle('open', opening, METHODS);
  layer.closing('closeSync');
  layer.closing('close');
  takeApart(layer);
}

function wrapNames(layer: Wrapping): void {
  layer.sync('renameSync', onTwo('rename'));
  layer.promise('rename', onTwo('rename'));
  layer.sync('linkSync', onTwo('link'));
  layer.promise('link', onTwo('link'));
  layer.sync('unlinkSync', onPath('unlink'));
  layer.promise('unlink', onPath('unlink'));
  layer.sync('rmdirSync', onPath('rmdir'));
  layer.promise('rmdir', onPath('rmdir'));
  for (const name of ['mkdirSync', 'mkdtempSync']) layer.sync(name, onPath('mkdir'));
  for (const name of ['truncateSync', 'ftruncateSync']) layer.sync(name, onPath('truncate'));
  for (const name of ['chmodSync', 'fchmodSync', 'chownSync', 'fchownSync', 'utimesSync'])
    layer.sync(name, onPath('attributes'));
}

function wrapLooks(layer: Wrapping): void {
  layer.sync('readSync', onPath('read'));
  layer.callback('read', onPath('read'));
  layer.sync('readFileSync', onPath('read'));
  for (const name of [
    'statSync',
    'fstatSync',
    'lstatSync',
    'statfsSync',
    'accessSync',
    'realpathSync',
    'readlinkSync',
  ]) {
    layer.sync(name, onPath('stat'));
  }
  for (const name of ['stat', 'statfs']) layer.promise(name, onPath('stat'));
  layer.sync('readdirSync', onPath('list'));
  layer.question('existsSync', onPath('exists'));
}

/** Functions that make many system calls are done step by step, so that each can be struck. */
function takeApart(layer: Wrapping): void {
  const makeOne = fs.mkdirSync;
  layer.replace('mkdirSync', (path, options) => makeDirectories(makeOne, String(path), options));
  layer.replace('rmSync', (path, options) => removeTree(String(path), options as RemoveOptions));
  layer.replacePromised('rm', (path, options) => removeTree(String(path), options as RemoveOptions));
  layer.replace('writeFileSync', (target, data) => writeAll(target, data));
}

interface RemoveOptions {
  readonly recursive?: boolean;
  readonly force?: boolean;
}

function removeTree(path: string, options: RemoveOptions = {}): void {
  const isDirectory = (original['lstatSync'] as typeof lstatSync)(path, {
    throwIfNoEntry: false,
  })?.isDirectory();
  if (isDirectory === undefined && options.force) return;
  if (isDirectory !== true) {
    fs.unlinkSync(path);
    return;
  }
  if (options.recursive !== true) throw new Error(`${path} is a directory`);
  for (const name of (original['readdirSync'] as typeof readdirSync)(path).sort()) {
    removeTree(join(path, String(name)), options);
  }
  fs.rmdirSync(path);
}

function makeDirectories(makeOne: typeof fs.mkdirSync, path: string, options: unknown): string | undefined {
  const { recursive, mode } = (options ?? {}) as { recursive?: boolean; mode?: number };
  const only = mode === undefined ? {} : { mode };
  if (recursive !== true) {
    makeOne(path, only);
    return undefined;
  }
  const missing: string[] = [];
  for (let at = path; !(original['existsSync'] as typeof existsSync)(at); at = dirname(at))
    missing.unshift(at);
  for (const directory of missing) makeOne(directory, only);
  return missing[0];
}

function writeAll(target: unknown, data: unknown): void {
  if (typeof target !== 'number') throw new Error('the program writes files by descriptor');
  const bytes = typeof data === 'string' ? Buffer.from(data) : (data as Uint8Array);
  for (let done = 0; done < bytes.length; ) done += fs.writeSync(target, bytes, done);
}
