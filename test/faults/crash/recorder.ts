import { constants } from 'node:fs';
import { basename, dirname, relative } from 'node:path';
import type { Observer } from '../layer/layer.ts';
import { type Disk, type Entry, type History, perform, type Step } from './history.ts';

interface Opened {
  readonly inode: number;
  position: number;
}

type Take = (recorder: Recorder, parameters: readonly unknown[], result: unknown) => void;

/** Adds every step that a process takes on the disk below `root` to a history. */
export class Recorder implements Observer {
  readonly #root: string;
  readonly #history: History;
  readonly #live: Disk;
  readonly #opened = new Map<number, Opened>();
  /** For each sync under way, by descriptor, how many steps were taken when it began. */
  readonly #syncs = new Map<number, number>();
  #next: number;

  constructor(root: string, history: History) {
    this.#root = root;
    this.#history = history;
    this.#live = history.live();
    this.#next = 1 + Math.max(0, ...this.#live.directories.keys(), ...this.#live.files.keys());
  }

  begun(name: string, [fd]: readonly unknown[]): void {
    if (name === 'fsync' || name === 'fdatasync') this.#syncs.set(Number(fd), this.#history.steps.length);
  }

  failed(name: string, [fd]: readonly unknown[]): void {
    const file = this.#opened.get(Number(fd));
    if (/^f(?:data)?sync$/.test(name) && file !== undefined)
      this.#add({ kind: 'failed sync', inode: file.inode });
  }

  done(name: string, parameters: readonly unknown[], result: unknown): void {
    TAKES[name]?.(this, parameters, result);
  }

  #add(step: Step): void {
    perform(this.#live, step);
    this.#history.steps.push(step);
  }

  /** A path as the disk has it, or undefined when it is elsewhere. */
  #inside(path: unknown): string | undefined {
    const inside = relative(this.#root, String(path));
    return inside.startsWith('..') ? undefined : inside;
  }

  #placeOf(inside: string): { readonly directory: number; readonly name: string } {
    const directory = this.#live.find(dirname(inside) === '.' ? '' : dirname(inside));
    if (directory === undefined) throw new Error(`the record has no directory for ${inside}`);
    return { directory, name: basename(inside) };
  }

  opened(path: unknown, flags: unknown, fd: number): void {
    this.#opened.delete(fd);
    const inside = this.#inside(path);
    if (inside === undefined) return;
    const [makes, empties] = makingOf(flags);
    let inode = this.#live.find(inside);
    if (inode === undefined && makes) inode = this.made(path, false);
    else if (inode !== undefined && empties && this.#live.files.get(inode)?.length !== 0) {
      this.#add({ kind: 'data', inode, bytes: Buffer.alloc(0) });
    }
    if (inode === undefined) throw new Error(`the record has no ${inside}`);
    this.#opened.set(fd, { inode, position: 0 });
  }

  /** @returns the number of what was made. */
  made(path: unknown, isDirectory: boolean): number {
    const inode = this.#next++;
    const inside = this.#inside(path);
    if (inside === undefined) return inode;
    const place = this.#placeOf(inside);
    const entries: readonly Entry[] = [{ ...place, inode }];
    this.#add({ kind: 'names', entries, into: place.directory, makes: { inode, isDirectory } });
    return inode;
  }

  removed(path: unknown): void {
    const inside = this.#inside(path);
    if (inside === undefined) return;
    const place = this.#placeOf(inside);
    this.#add({ kind: 'names', entries: [{ ...place, inode: undefined }], into: place.directory });
  }

  moved(from: unknown, to: unknown, keeps: boolean): void {
    const [source, target] = [this.#inside(from), this.#inside(to)];
    if (source === undefined || target === undefined) {
      if (source !== target) throw new Error('a move out of what is recorded');
      return;
    }
    const [old, fresh] = [this.#placeOf(source), this.#placeOf(target)];
    const inode = this.#live.find(source);
    const gone: readonly Entry[] = keeps ? [] : [{ ...old, inode: undefined, was: inode }];
    this.#add({ kind: 'names', entries: [...gone, { ...fresh, inode }], into: fresh.directory });
  }

  written(fd: number, data: unknown, offset: unknown, position: unknown, count: number): void {
    const file = this.#opened.get(fd);
    if (file === undefined) return;
    const whole = typeof data === 'string' ? Buffer.from(data) : (data as Uint8Array);
    const from = typeof data === 'string' || typeof offset !== 'number' ? 0 : offset;
    const at = typeof position === 'number' ? position : file.position;
    if (typeof position !== 'number') file.position += count;
    const old = this.#live.files.get(file.inode) ?? Buffer.alloc(0);
    const bytes = Buffer.alloc(Math.max(old.length, at + count));
    old.copy(bytes);
    bytes.set(whole.subarray(from, from + count), at);
    this.#add({ kind: 'data', inode: file.inode, bytes, range: [at, at + count] });
  }

  cutTo(target: unknown, length: number): void {
    const inode =
      typeof target === 'number'
        ? this.#opened.get(target)?.inode
        : this.#live.find(this.#inside(target) ?? '');
    const old = inode === undefined ? undefined : this.#live.files.get(inode);
    if (inode === undefined || old === undefined) return;
    const bytes = Buffer.alloc(length);
    old.copy(bytes);
    this.#add({ kind: 'data', inode, bytes });
  }

  synced(fd: number): void {
    const file = this.#opened.get(fd);
    const begun = this.#syncs.get(fd) ?? this.#history.steps.length;
    this.#syncs.delete(fd);
    if (file !== undefined) this.#add({ kind: 'sync', inode: file.inode, begun });
  }
}

/** What each function of node:fs does to a disk; the others only look. */
const TAKES: Readonly<Record<string, Take>> = {
  open: (recorder, [path, flags], fd) => recorder.opened(path, flags, Number(fd)),
  mkdir: (recorder, [path]) => void recorder.made(path, true),
  unlink: (recorder, [path]) => recorder.removed(path),
  rmdir: (recorder, [path]) => recorder.removed(path),
  rename: (recorder, [from, to]) => recorder.moved(from, to, false),
  link: (recorder, [from, to]) => recorder.moved(from, to, true),
  write: (recorder, [fd, data, offset, , position], count) =>
    recorder.written(Number(fd), data, offset, position, Number(count)),
  truncate: (recorder, [path, length]) => recorder.cutTo(path, Number(length ?? 0)),
  ftruncate: (recorder, [fd, length]) => recorder.cutTo(fd, Number(length ?? 0)),
  fsync: (recorder, [fd]) => recorder.synced(Number(fd)),
  fdatasync: (recorder, [fd]) => recorder.synced(Number(fd)),
};

/** Whether a file that is opened so is made when it is missing, and emptied when it is there. */
function makingOf(flags: unknown): readonly [makes: boolean, empties: boolean] {
  if (typeof flags === 'number')
    return [(flags & constants.O_CREAT) !== 0, (flags & constants.O_TRUNC) !== 0];
  const letters = String(flags ?? 'r');
  return [/[wa]/.test(letters), letters.includes('w')];
}
