import type { Chance } from '../../chance.ts';
import { type Disk, type History, type Naming, rename, type Step } from './history.ts';

/** What becomes of bytes that were written and not synced: all are there, none, only their number, or the first half. */
export type DataLoss = 'kept' | 'none' | 'zeroes' | 'half' | 'mixed';
export const dataLosses: readonly DataLoss[] = ['kept', 'none', 'zeroes', 'half', 'mixed'];

/** The power fails. */
export interface PowerCut {
  /** So many steps had been taken. */
  readonly at: number;
  /** Those of them, changes of names, that had not reached the disk. */
  readonly lost: readonly number[];
  readonly data: DataLoss;
}

/** The first steps that are changes of names, by their numbers. */
const namings = ({ steps }: History, at: number): ReadonlyMap<number, Naming> =>
  new Map(
    [...steps.slice(0, at).entries()].filter((entry): entry is [number, Naming] => entry[1].kind === 'names'),
  );

const touches = ({ entries }: Naming, directory: number): boolean =>
  entries.some((entry) => entry.directory === directory);

/**
 * The changes of names that are on the disk for certain: those in a directory that was synced since, with all that must be there
 * before them. A directory keeps the order of its own entries, and a move is one step; that is all that file systems have in common.
 */
export function certain(history: History, at: number): ReadonlySet<number> {
  const found = new Set<number>();
  const all = namings(history, at);
  const include = (directory: number, before: number): void => {
    for (const [number, naming] of all) {
      if (number >= before || found.has(number) || !touches(naming, directory)) continue;
      found.add(number);
      include(naming.into, number);
    }
  };
  for (const [number, step] of history.steps.slice(0, at).entries()) {
    if (step.kind !== 'sync') continue;
    const failed = history.steps
      .slice(0, number)
      .findLastIndex(
        ({ kind, ...each }) => kind === 'failed sync' && 'inode' in each && each.inode === step.inode,
      );
    const isChanged = [...all].some(
      ([each, naming]) => each > failed && each < step.begun && touches(naming, step.inode),
    );
    if (failed === -1 || isChanged) include(step.inode, step.begun);
  }
  return found;
}

/** Every set of changes of names that may be lost after so many steps, or `most` of them by chance where there are more. */
export function lossesAt(
  history: History,
  at: number,
  most: number,
  chance: Chance,
): readonly (readonly number[])[] {
  const sure = certain(history, at);
  const open = [...namings(history, at)].filter(([number]) => !sure.has(number));
  const all = everyLoss(open, most);
  if (all !== undefined) return all;
  const some = new Map<string, readonly number[]>([['', []]]);
  for (let i = 0; i < most; i++) {
    const lost = oneLoss(open, lossByChance(open, chance));
    some.set(lost.join(), lost);
  }
  return [...some.values()];
}

/** From some change on, one directory is not on the disk, or each for itself. */
function lossByChance(open: Open, chance: Chance): (naming: Naming) => boolean {
  const counts = new Map<number, number>();
  for (const [, { into }] of open) counts.set(into, 1 + (counts.get(into) ?? 0));
  const unlucky = chance.oneIn(2) ? chance.pick([...counts.keys()]) : undefined;
  const left = new Map<number, number>();
  for (const [directory, count] of counts) {
    const isHit = unlucky === undefined ? !chance.oneIn(3) : directory === unlucky;
    left.set(directory, isHit ? chance.below(count) : count);
  }
  return ({ into }) => {
    const rest = left.get(into) ?? 0;
    left.set(into, rest - 1);
    return rest <= 0;
  };
}

type Open = readonly (readonly [number: number, naming: Naming])[];

/** Undefined when there are more than `most`. */
function everyLoss(open: Open, most: number): readonly (readonly number[])[] | undefined {
  const found: (readonly number[])[] = [];
  const choices: boolean[] = [];
  do {
    let choice = 0;
    found.push(
      oneLoss(open, () => {
        choices[choice] ??= false;
        return choices[choice++] === true;
      }),
    );
    choices.length = choice;
    // The next set of answers: the last no becomes a yes, and all after it are open again.
    while (choices.at(-1) === true) choices.pop();
    if (choices.length > 0) choices[choices.length - 1] = true;
  } while (choices.length > 0 && found.length <= most);
  return found.length > most ? undefined : found;
}

/** Goes through the changes in order and asks at each that may be the first of its directory to be lost, whether it is. */
function oneLoss(open: Open, isLost: (naming: Naming) => boolean): readonly number[] {
  const stopped = new Set<number>();
  const lost: number[] = [];
  for (const [number, naming] of open) {
    const { into, entries } = naming;
    if (!stopped.has(into) && !isLost(naming)) continue;
    lost.push(number);
    for (const { directory } of entries) stopped.add(directory);
  }
  return lost;
}

/** What is on the disk when the power is back. */
export function diskAfter(history: History, { at, lost, data }: PowerCut): Disk {
  const disk = history.base.copy();
  const taken = history.steps.slice(0, at);
  for (const step of taken) {
    if (step.kind !== 'names' || step.makes === undefined) continue;
    if (step.makes.isDirectory) disk.directories.set(step.makes.inode, new Map());
    else disk.files.set(step.makes.inode, Buffer.alloc(0));
  }
  const missing = new Set(lost);
  for (const [number, naming] of namings(history, at)) if (!missing.has(number)) rename(disk, naming);
  for (const inode of new Set(taken.flatMap((step) => (step.kind === 'data' ? [step.inode] : [])))) {
    const first = disk.files.get(inode) ?? Buffer.alloc(0);
    disk.files.set(inode, contentAfter(taken, inode, first, data === 'mixed' ? MIXED[inode % 4] : data));
  }
  return disk;
}

function contentAfter(
  taken: readonly Step[],
  inode: number,
  first: Buffer,
  data: DataLoss | undefined,
): Buffer {
  let sure = first;
  /** What was written and is not on the disk for certain; after a failed sync nothing more is done about it. */
  let dirty: {
    readonly number: number;
    readonly bytes: Buffer;
    readonly range: readonly [number, number];
  }[] = [];
  let open: Buffer[] = [];
  for (const [number, step] of taken.entries()) {
    if (step.kind === 'names' || step.inode !== inode) continue;
    if (step.kind === 'data') {
      dirty.push({ number, bytes: step.bytes, range: step.range ?? [0, step.bytes.length] });
      open.push(step.bytes);
    } else if (step.kind === 'failed sync') dirty = [];
    else {
      for (const each of dirty.filter((one) => one.number < step.begun)) sure = over(sure, each);
      dirty = dirty.filter((one) => one.number >= step.begun);
      open = dirty.map(({ bytes }) => bytes);
    }
  }
  const last = open.at(-1);
  return last === undefined ? sure : lossy(sure, last, open, data);
}

/** A content with what was written over it. */
function over(
  content: Buffer,
  { bytes, range: [from, to] }: { readonly bytes: Buffer; readonly range: readonly [number, number] },
): Buffer {
  const result = Buffer.alloc(bytes.length);
  content.copy(result);
  bytes.copy(result, from, from, to);
  return result;
}

const MIXED: readonly DataLoss[] = ['none', 'zeroes', 'half', 'kept'];

function lossy(sure: Buffer, last: Buffer, open: readonly Buffer[], data: DataLoss | undefined): Buffer {
  if (data === 'kept') return last;
  if (data === 'none') return sure;
  const wasCut = open.some((version) => version.length < sure.length);
  const old = wasCut ? Buffer.alloc(0) : sure;
  // Of a file that was written to in place, the first half of what has changed.
  const [begin, end] = [commonLength(old, last), last.length - commonEnd(old, last)];
  const half = begin + Math.ceil(Math.max(0, end - begin) / 2);
  const bytes = Buffer.alloc(data === 'zeroes' ? last.length : Math.max(old.length, half));
  old.copy(bytes);
  if (data === 'half') last.copy(bytes, 0, 0, half);
  return bytes;
}

/** How many bytes at the beginning are the same. */
function commonLength(a: Buffer, b: Buffer): number {
  let [same, most] = [0, Math.min(a.length, b.length)];
  while (same < most) {
    const middle = Math.ceil((same + most) / 2);
    if (a.subarray(0, middle).equals(b.subarray(0, middle))) same = middle;
    else most = middle - 1;
  }
  return same;
}

/** How many bytes at the end are the same, of two that are equally long. */
function commonEnd(a: Buffer, b: Buffer): number {
  if (a.length !== b.length) return 0;
  let [same, most] = [0, a.length];
  while (same < most) {
    const middle = Math.ceil((same + most) / 2);
    if (a.subarray(-middle).equals(b.subarray(-middle))) same = middle;
    else most = middle - 1;
  }
  return same;
}
