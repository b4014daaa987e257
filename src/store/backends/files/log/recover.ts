import {
  asCofferError,
  type CofferError,
  corrupt,
  placed,
  unlessRefused,
} from '../../../../ground/errors.ts';
import { LOST, LOST_FILE, REPAIR, RESTORE } from '../../../refusals.ts';
import { areas, type BlobRef, type Flaw, type Mend, type OpensBlob, type OpensBlobs } from '../../backend.ts';
import {
  deleteFile,
  isThere,
  moveFile,
  readWhole,
  stageBlobFile,
  syncChanged,
  writeDurably,
} from '../durable-files.ts';
import { makeDirectory } from '../generation-files.ts';
import { KEPT, type Layout, pathIn, STAGED } from '../layout.ts';
import { logged, type StateName } from '../state-directory.ts';
import { disappearing, holeIn, LOOKS } from './append.ts';
import { FILE_BYTES, nextPlace } from './format.ts';
import { Log, listLog, type StoreDirectory, withoutGap } from './log.ts';
import { LogFile } from './log-file.ts';
import { makeFile } from './next-file.ts';
import { blobsOf, isPiece, keyOf, type LostPart, type Piece, Salvage, type Salvaged } from './salvage.ts';

/**
 * Checks that the log of a store is whole up to a state.
 * @returns the error for what is wrong with it; undefined for a whole one, or if the state has changed meanwhile
 */
export function damageOf({ layout, state, log }: StoreDirectory, name: StateName): CofferError | undefined {
  const own = new Log(layout);
  own.storeId = log.storeId;
  for (let look = 0; look < LOOKS; look++) {
    let problem: CofferError | undefined;
    try {
      // A checkpoint has deleted a file since it was listed.
      if (!own.follow(name.revision, true)) continue;
      problem = own.contradiction(name);
      // Nothing says how far the log has to go above the state: there only what is read is checked.
      if (problem === undefined && !own.follow(Number.POSITIVE_INFINITY)) continue;
      problem ??= own.damage() ?? holeIn(own);
    } catch (error) {
      problem = asCofferError(error);
      if (problem?.kind !== 'corrupt') throw error;
    }
    if (problem === undefined) return undefined;
    const now = state.list().state;
    if (now?.revision !== name.revision || now.generation !== name.generation) return undefined;
    // The state may have been read before a checkpoint deleted a file, which the listing shows no more.
    if (look > 0) return problem;
  }
  throw disappearing(layout);
}

/** Reads the log as far as it is whole, so that the blobs in it can be read. */
export function readWhatIsWhole({ layout, log }: StoreDirectory): void {
  log.forget();
  for (const number of withoutGap(listLog(layout))) {
    const at = { number, path: layout.logFile(number), storeId: log.storeId };
    const read = () => LogFile.read(at, { upTo: Number.POSITIVE_INFINITY, isStrict: true });
    const file = unlessRefused(read, undefined, 'corrupt');
    if (file !== undefined) log.add(file);
  }
}

/** Finds what of a log is damaged or missing; empty for a whole one. */
export function flawsOfDamage(directory: StoreDirectory, name: StateName): Flaw[] {
  const problem = damageOf(directory, name);
  if (problem === undefined) return [];
  const { layout, log } = directory;
  const { generation } = name;
  const salvage = new Salvage(layout, log.storeId, { state: name, generation, takes: () => true });
  const flaws = salvage.losses.map(
    ({ path, offset }): Flaw => ({
      place: { file: path },
      reason:
        offset === undefined
          ? 'is missing: its changes are lost unless you put the file back'
          : offset === 0
            ? 'is damaged, or belongs to another store'
            : `is damaged at offset ${offset}: changes there cannot be read`,
      hint: offset === undefined ? LOST_FILE : REPAIR,
    }),
  );
  for (const { ref, piece } of salvage.damagedBlobs)
    flaws.push({
      place: { file: piece.path },
      reason: `is damaged at offset ${piece.offset}: the content of ${ref.area}/${ref.name} there cannot be read`,
      hint: REPAIR,
    });
  if (flaws.length === 0)
    flaws.push({
      place: { file: layout.log },
      reason: 'is damaged, but everything in it can still be read',
      hint: REPAIR,
    });
  return flaws;
}

interface Replacing {
  readonly generation: number;
  /** Present state, if there is one. */
  readonly found: StateName | undefined;
  readonly opens: OpensBlobs;
  /** Revision that is used, although the log does not say so. */
  readonly above?: number;
}

/**
 * Replaces a damaged log, and the state if it is missing. Everything of the log that can be read is put into the
 * documents, and the new log begins at a revision that no process has seen. If anything is lost, the files are kept
 * under another name. Under the write lock and the lock of the log.
 * @returns what was lost, and what was kept
 * @throws `corrupt` if the log belongs to another store
 */
export async function replaceLog(
  directory: StoreDirectory,
  { generation, found, opens, above = -1 }: Replacing,
): Promise<Mend[]> {
  const { layout, state, log } = directory;
  if (!isThere(layout.log)) makeDirectory(layout.log);
  const salvage = new Salvage(layout, log.storeId, { state: found, generation, takes: () => true });
  if (salvage.isForeign)
    throw corrupt(placed`${{ file: layout.log }} belongs to another store`, {
      hint: placed`put back the log directory that belongs to ${{ file: layout.header }}, or ${RESTORE}`,
    });
  let { parts } = salvage;
  const mayBeOlder = salvage.losses.some(isUnwritten);
  const kept: Mend[] = [];
  if (salvage.losses.some(({ guess }) => guess !== undefined)) {
    // What unlocks the store may be in the log.
    log.forget();
    for (const blob of lastOf(parts))
      if (blob.ref.area === 'slots')
        kept.push(...(await putInPlace(layout, { generation, mayBeOlder }, blob)));
    const judge = await opens(generation);
    if (judge !== undefined) parts = adopted(salvage, judge);
  }
  const losses = parts.filter((part): part is LostPart => !isPiece(part) && part.opened?.isAll !== true);
  const mended: Mend[] = [...losses.map(sayLoss), ...salvage.damagedBlobs.map(sayDamaged)];
  for (const blob of lastOf(parts))
    kept.push(...(await putInPlace(layout, { generation, mayBeOlder }, blob)));
  mended.push(...kept);
  for (const area of areas) await syncChanged(layout.area(generation, area));
  // A copy first: whoever is killed now leaves the log as it was, and the copies are only made again.
  if (losses.length + salvage.damagedBlobs.length > 0)
    mended.push(...(await keepAside(layout, salvage.numbers)));
  const version = { generation, revision: state.unusedRevision(Math.max(salvage.revision, above)) };
  // With a gap, files that come back after a power failure count no more.
  const number = Math.max(salvage.first, ...salvage.numbers) + 2;
  await makeFile(layout, number, {
    isFirst: true,
    generation,
    base: version.revision,
    storeId: log.storeId,
  });
  if (found === undefined) await state.create(logged(version));
  else state.change(found, logged(version));
  await syncChanged(state.path);
  for (const each of salvage.numbers) deleteFile(layout.logFile(each));
  await syncChanged(layout.log);
  await syncChanged(layout.directory);
  log.forget();
  return mended;
}

/** The last content of each blob. */
function lastOf(parts: readonly (Piece | LostPart)[]): readonly Salvaged[] {
  const last = new Map<string, Salvaged>();
  for (const part of parts) {
    const blobs = isPiece(part) ? blobsOf(part) : (part.opened?.blobs ?? []);
    for (const blob of blobs) last.set(keyOf(blob.ref), blob);
  }
  return [...last.values()];
}

/** Finds the authentic blobs in parts that cannot be read otherwise. */
function adopted({ parts, revision }: Salvage, opens: OpensBlob): (Piece | LostPart)[] {
  return parts.map((part, index) => {
    if (isPiece(part) || part.guess === undefined || part.offset === undefined) return part;
    const { path, offset, guess } = part;
    const all = [...blobsOf({ ...guess, path, offset })];
    const opened = all.filter(
      ({ ref, bytes }) => ref.area === 'documents' && bytes !== undefined && opens(ref, bytes),
    );
    const next = parts[index + 1];
    const isAllOfIt = isPiece(next)
      ? next.path === path && next.offset === nextPlace(offset + guess.bytes.length)
      : next === undefined && guess.record.revision >= revision;
    const blobs = opened.map((blob) => ({ ...blob, isIntact: true }));
    return { ...part, opened: { blobs, isAll: isAllOfIt && blobs.length === all.length } };
  });
}

/**
 * Whether nothing was ever written where changes should be. Then the file may be an older one that was put back, and the
 * documents may have newer contents than it.
 */
function isUnwritten({ path, offset }: LostPart): boolean {
  const bytes = offset === undefined || offset === 0 ? undefined : readWhole(path);
  // It is made with zeros; one that is shorter was cut.
  return (
    bytes !== undefined && bytes.length >= FILE_BYTES && bytes.subarray(offset).every((byte) => byte === 0)
  );
}

/**
 * Puts a blob into its place. A document whose last content is damaged becomes a damaged one, so that nobody takes an
 * older content for the last; the older one is kept. So is one that may be newer than that of the log.
 */
async function putInPlace(
  layout: Layout,
  { generation, mayBeOlder }: { readonly generation: number; readonly mayBeOlder: boolean },
  { ref, bytes, isIntact, piece }: Salvaged,
): Promise<readonly Mend[]> {
  const path = layout.blob(generation, ref);
  const present = isIntact && !mayBeOlder ? undefined : readWhole(path);
  // An older content of a slot may still unlock the store.
  if (!isIntact && present !== undefined && ref.area === 'slots') return [];
  const mended: Mend[] = [];
  if (present !== undefined && (bytes === undefined || !present.equals(bytes))) {
    const kept = keptPath(layout, nameOf(ref));
    await writeDurably(kept, present);
    await syncChanged(layout.log);
    const why = isIntact
      ? `the content of ${nameOf(ref)} from before the repair: the log, which may be older, ${bytes === undefined ? 'says that it was deleted' : 'has different content'}`
      : `an older content of ${nameOf(ref)}: the last one was damaged in ${piece.path} at offset ${piece.offset}`;
    mended.push({ place: { file: kept }, done: `is ${why}` });
  }
  if (bytes === undefined) {
    deleteFile(path);
    return mended;
  }
  await stageBlobFile(path + STAGED, bytes);
  moveFile(path + STAGED, path);
  return mended;
}

const nameOf = (ref: BlobRef): string => `${ref.area}-${ref.name}`;

/** Returns a path that is free. */
function keptPath(layout: Layout, name: string): string {
  for (let i = 1; ; i++) {
    const path = pathIn(layout.log, `${name}${i === 1 ? '' : `-${i}`}${KEPT}`);
    if (!isThere(path)) return path;
  }
}

async function keepAside(layout: Layout, numbers: readonly number[]): Promise<Mend[]> {
  const mended: Mend[] = [];
  for (const number of numbers) {
    const bytes = readWhole(layout.logFile(number));
    if (bytes === undefined) continue;
    const kept = keptPath(layout, String(number));
    await writeDurably(kept, bytes);
    mended.push({
      place: { file: kept },
      done: `is a copy of ${layout.logFile(number)} from before the repair`,
    });
  }
  if (mended.length > 0) await syncChanged(layout.log);
  return mended;
}

const sayDamaged = ({ ref, piece }: Salvaged): Mend => ({
  place: { file: piece.path },
  done: `was damaged at offset ${piece.offset}: the content of ${ref.area}/${ref.name} there is lost`,
  lossHint: LOST,
});

function sayLoss({ path, offset, after }: LostPart): Mend {
  const place = { file: path };
  const lossHint = LOST;
  if (offset === undefined) return { place, done: 'is missing: its changes are lost', lossHint };
  if (offset === 0)
    return { place, done: 'is damaged, or belongs to another store: its changes are not used', lossHint };
  const since = after === undefined ? '' : ` after revision ${after}`;
  return {
    place,
    done: `was damaged at offset ${offset}: changes${since} are lost, except for the parts that could be read`,
    lossHint,
  };
}
