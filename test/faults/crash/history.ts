import { createHash } from 'node:crypto';
import { lstatSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** A directory's entries by name, each the number of a file or directory. */
type Entries = Map<string, number>;

/** What a disk holds: directories and files by numbers of our own, which they keep whatever they are called. 0 is the root. */
export class Disk {
  readonly directories = new Map<number, Entries>();
  readonly files = new Map<number, Buffer>();

  static readonly ROOT = 0;

  static read(path: string): Disk {
    const disk = new Disk();
    let next = Disk.ROOT;
    const take = (at: string): number => {
      const inode = next++;
      if (lstatSync(at).isDirectory()) {
        const entries: Entries = new Map();
        disk.directories.set(inode, entries);
        for (const name of readdirSync(at).sort()) entries.set(name, take(join(at, name)));
      } else disk.files.set(inode, readFileSync(at));
      return inode;
    };
    take(path);
    return disk;
  }

  copy(): Disk {
    const copy = new Disk();
    for (const [inode, entries] of this.directories) copy.directories.set(inode, new Map(entries));
    for (const [inode, bytes] of this.files) copy.files.set(inode, bytes);
    return copy;
  }

  /** @param path relative to the root. */
  find(path: string): number | undefined {
    let at: number | undefined = Disk.ROOT;
    for (const name of path.split('/').filter((part) => part !== '')) {
      at = at === undefined ? undefined : this.directories.get(at)?.get(name);
    }
    return at;
  }

  /** Where everything is, by its number. */
  paths(inode = Disk.ROOT, path = '', found = new Map<number, string>()): Map<number, string> {
    found.set(inode, path);
    for (const [name, each] of this.directories.get(inode) ?? []) {
      this.paths(each, path === '' ? name : `${path}/${name}`, found);
    }
    return found;
  }

  /** Makes real files and directories of it. @param path an empty directory, for the root. */
  write(path: string, inode = Disk.ROOT): void {
    for (const [name, each] of this.directories.get(inode) ?? []) {
      const bytes = this.files.get(each);
      if (bytes !== undefined) writeFileSync(join(path, name), bytes, { mode: 0o600 });
      else {
        mkdirSync(join(path, name), { mode: 0o700 });
        this.write(join(path, name), each);
      }
    }
  }

  /** Two disks are the same to everybody when these texts are. */
  print(inode = Disk.ROOT): string {
    const bytes = this.files.get(inode);
    if (bytes !== undefined) return digestOf(bytes);
    const entries = [...(this.directories.get(inode) ?? [])].sort(([a], [b]) => (a < b ? -1 : 1));
    return `{${entries.map(([name, each]) => `${name}:${this.print(each)}`).join(',')}}`;
  }
}

const digests = new WeakMap<Buffer, string>();

function digestOf(bytes: Buffer): string {
  const known = digests.get(bytes) ?? createHash('sha256').update(bytes).digest('base64');
  digests.set(bytes, known);
  return known;
}

/** One entry of a directory, as it is from now on; undefined when it is gone. */
export interface Entry {
  readonly directory: number;
  readonly name: string;
  readonly inode: number | undefined;
  /** It goes only if it is this one. */
  readonly was?: number | undefined;
}

/** A change of names: one step, which is there wholly or not at all. */
export interface Naming {
  readonly kind: 'names';
  readonly entries: readonly Entry[];
  /** The directory in which it waits for what was done before: of a move, the one that is moved into. */
  readonly into: number;
  /** What comes to be with it. */
  readonly makes?: { readonly inode: number; readonly isDirectory: boolean };
}

/** A change of a file's content. */
interface Writing {
  readonly kind: 'data';
  readonly inode: number;
  /** All of it, afterwards. */
  readonly bytes: Buffer;
  /** Which of them were written; all by default. */
  readonly range?: readonly [from: number, to: number];
}

/** What was done to a file or a directory before the step `begun` is on the disk for certain. */
interface Sync {
  readonly kind: 'sync';
  readonly inode: number;
  readonly begun: number;
}

/**
 * A sync that failed. What was done before counts as written from then on, whether it is on the disk or not: only what is
 * done again reaches it for certain.
 */
interface FailedSync {
  readonly kind: 'failed sync';
  readonly inode: number;
}

export type Step = Naming | Writing | Sync | FailedSync;

/** What was done to a disk since it was known for certain what is on it. */
export class History {
  readonly base: Disk;
  readonly steps: Step[];

  constructor(base: Disk, steps: readonly Step[] = []) {
    this.base = base;
    this.steps = [...steps];
  }

  /** The first `count` steps: what is known to a process that is killed then. */
  until(count: number): History {
    return new History(this.base, this.steps.slice(0, count));
  }

  /** How everybody sees the disk as long as the machine runs. */
  live(): Disk {
    const disk = this.base.copy();
    for (const step of this.steps) perform(disk, step);
    return disk;
  }
}

/** Does a step on a disk. */
export function perform(disk: Disk, step: Step): void {
  if (step.kind === 'data') disk.files.set(step.inode, step.bytes);
  if (step.kind !== 'names') return;
  if (step.makes?.isDirectory === true) disk.directories.set(step.makes.inode, new Map());
  else if (step.makes !== undefined) disk.files.set(step.makes.inode, Buffer.alloc(0));
  rename(disk, step);
}

/** The names alone: what they stand for must be there. */
export function rename(disk: Disk, { entries }: Naming): void {
  for (const { directory, name, inode, was } of entries) {
    const present = disk.directories.get(directory);
    if (inode !== undefined) present?.set(name, inode);
    else if (was === undefined || present?.get(name) === was) present?.delete(name);
  }
}
