import {
  asCofferError,
  type CofferError,
  corrupt,
  expected,
  type Place,
  placed,
  printPlace,
  printText,
  refusedAs,
  unlessRefused,
} from '../../ground/errors.ts';
import type { Backend, OpensBlob, Version, WriteSession } from '../backends/backend.ts';
import type { Location } from '../backends/backend-kind.ts';
import { withBackendAt } from '../backends/registry.ts';
import { type OnFile, readConsistently } from '../backends/whole-store.ts';
import { readHeader } from '../header.ts';
import { RESTORE } from '../refusals.ts';
import type { BlobIdentity, RootKey } from '../root-key.ts';
import { COLLECTIONS, headOf } from '../sealed/collection-index.ts';
import { type Keyring, readSlotFiles, sealSlotList } from '../slots/slot-list.ts';
import { type Credential, unlock } from '../slots/unlock.ts';
import { IndexCheck, type NewIndex } from './index-check.ts';
import { type Finding, findingOf, findingsIn } from './status.ts';
import { checkSlots, surveyBlobs } from './survey.ts';

interface ExamineOptions {
  readonly location: Location;
  readonly credentials: readonly Credential[];
  /** Called after each file with the number of files checked and their total. */
  readonly onProgress?: OnFile;
}

export interface Examination {
  /** Number of files checked. */
  readonly checked: number;
  /** Whether the store was unlocked. If damage prevented that, documents were not checked. */
  readonly unlocked: boolean;
  /** Problems found, sorted by file; empty if there are none. */
  readonly findings: readonly Finding[];
}

/**
 * Checks a whole store: directories, header, slots, every sealed file, the indexes, and unexpected files. Reports
 * damage instead of throwing it. Repairs nothing.
 * @throws `sealed`, `denied`, `not-found`, `unavailable` as `openStore`
 */
export const examineStore = ({ location, credentials, onProgress }: ExamineOptions): Promise<Examination> =>
  withBackendAt(location, (backend) => examineBackend(backend, credentials, onProgress));

/** Checks a store in any backend, like `examineStore`. */
export const examineBackend = (
  backend: Backend,
  credentials: readonly Credential[],
  onProgress?: OnFile,
): Promise<Examination> => examine(backend, (id) => unlock(backend, id, credentials), onProgress);

/** Checks a store like `examineBackend`. @param unlocking unlocks the store with this id */
export async function examine(
  backend: Backend,
  unlocking: (storeId: string) => Promise<Keyring>,
  onProgress?: OnFile,
): Promise<Examination> {
  const flaws = (await backend.flaws()).map(({ place, reason, hint }) => ({
    file: printPlace(place),
    reason,
    hint: printText(hint),
  }));
  const locked: Finding[] = [...flaws];
  const header = await unlessDamaged(() => readHeader(backend), backend.headerPlace, locked);
  if (header === undefined) return { checked: 1, unlocked: false, findings: locked.sort(byFile) };
  const state = await unlessDamaged(() => backend.state(), backend.place, locked);
  if (state === undefined) return { checked: 1, unlocked: false, findings: locked.sort(byFile) };
  // The reason why it stays locked is found again among its slots, unless there are none left.
  const whyLocked: Finding[] = [...flaws];
  const keyring = await unlessDamaged(() => unlocking(header.id), backend.place, whyLocked);
  const flawed = new Set(flaws.map(({ file }) => file));
  const examineIt = (version: Version): Promise<Examination> =>
    keyring === undefined
      ? examineSlots(backend, version, whyLocked.slice(flaws.length))
      : examineVersion(backend, version, keyring, { flawed, onProgress });
  const unfinished: Finding[] = [...flaws];
  const examination =
    (await unlessDamaged(() => readConsistently(backend, examineIt), backend.place, unfinished)) ??
    (await examineIt(state));
  const findings = [...unfinished, ...examination.findings].sort(byFile);
  return { ...examination, findings };
}

/** Checks the slots only: all that can be checked in a store that stays locked. */
async function examineSlots(
  backend: Backend,
  version: Version,
  whyLocked: readonly Finding[],
): Promise<Examination> {
  const slotFiles = await readSlotFiles(backend, version.generation);
  const damaged = findingsIn(slotFiles);
  // With no other slot, nothing unlocks the store to replace the damaged one.
  const hopeless = damaged.length === slotFiles.length;
  const reasons =
    damaged.length === 0
      ? whyLocked
      : damaged.map((finding) => (hopeless ? { ...finding, hint: RESTORE } : finding));
  return {
    checked: slotFiles.length + 1,
    unlocked: false,
    findings: [...(await strayFindings(backend)), ...reasons],
  };
}

/** @param flawed files with a flaw of their own, which says why they cannot be read */
async function examineVersion(
  backend: Backend,
  { generation }: Version,
  keyring: Keyring,
  { flawed, onProgress }: { readonly flawed: ReadonlySet<string>; readonly onProgress: OnFile | undefined },
): Promise<Examination> {
  const slotFiles = await readSlotFiles(backend, generation);
  const root = await keyring.root(backend, generation);
  const survey = await surveyBlobs(backend, root, onProgress);
  const isSaid = ({ file }: Finding): boolean => flawed.has(file) && survey.unread.has(file);
  return {
    checked: slotFiles.length + 1 + survey.present.size,
    unlocked: true,
    findings: [
      ...(await strayFindings(backend)),
      ...checkSlots(survey, slotFiles, keyring).findings,
      ...new IndexCheck(survey).findings.filter((finding) => !isSaid(finding)),
    ],
  };
}

async function strayFindings(backend: Backend): Promise<Finding[]> {
  return (await backend.strays()).map((place) => ({
    file: printPlace(place),
    reason: 'does not belong to the store',
    hint: 'move it out of the store, or delete it if you know what it is',
  }));
}

/**
 * Runs a step; if the store is damaged, adds a finding and returns undefined.
 * @param findings list to add to; if it already has flaws of the store's location, an unusable location is reported as
 * one of them
 */
async function unlessDamaged<T>(
  run: () => Promise<T>,
  place: Place,
  findings: Finding[],
): Promise<T | undefined> {
  try {
    return await run();
  } catch (error) {
    const known = asCofferError(error);
    const file = printPlace(known?.where ?? place);
    if (known?.kind === 'unavailable' && findings.some((finding) => finding.file === file)) return undefined;
    if (known?.kind !== 'corrupt') throw error;
    findings.push(findingOf(place, error));
    return undefined;
  }
}

const byFile = (a: Finding, b: Finding): number => (a.file < b.file ? -1 : a.file > b.file ? 1 : 0);

/** Something that was repaired. */
export interface Mended {
  readonly file: string;
  /** What was done, as the rest of a sentence that begins with the path. */
  readonly done: string;
}

export interface Repair {
  readonly mended: readonly Mended[];
  /** Examination after the repair: what could not be repaired, and what is lost. */
  readonly examination: Examination;
}

/**
 * Repairs everything that can be repaired without losing data: the lock, file modes, a missing state, leftovers of
 * killed writers, indexes, and a list of slots if its only slot is known. Lost data stays lost and is reported.
 * @throws as `examineStore`
 * @see docs/decisions/0117
 */
export const repairStore = (options: ExamineOptions): Promise<Repair> =>
  withBackendAt(options.location, (backend) => repair(backend, options));

async function repair(backend: Backend, { credentials, onProgress }: ExamineOptions): Promise<Repair> {
  let keyring: Keyring | undefined;
  // Prompt for credentials only once.
  const unlocking = async (storeId: string): Promise<Keyring> =>
    (keyring ??= await unlock(backend, storeId, credentials));
  const mended: Mended[] = [];
  const unmended: Finding[] = [];
  const lost: Finding[] = [];
  const refusedBy = (work: () => Promise<void>): Promise<CofferError | undefined> =>
    work().then(
      () => undefined,
      (error: unknown) => expected(error, 'corrupt', 'unavailable'),
    );
  const refusal = await refusedBy(async () => {
    const done = await backend.repair(
      async (generations) => {
        const whole = await wholeGeneration(backend, credentials, generations);
        keyring = whole.keyring;
        return whole.generation;
      },
      async (generation) => {
        keyring ??= await unlockIfPossible(backend, credentials, generation);
        return keyring && opening(await keyring.root(backend, generation), backend);
      },
    );
    for (const { place, done: text, lossHint } of done) {
      const file = printPlace(place);
      if (lossHint === undefined) mended.push({ file, done: text });
      else lost.push({ file, reason: text, hint: lossHint });
    }
  });
  if (refusal !== undefined) unmended.push(findingOf(backend.place, refusal));
  // The examination below finds out why it stays locked.
  const sealed = await refusedBy(async () => {
    const { id } = await readHeader(backend);
    mended.push(...(await mendSealed(backend, await unlocking(id))));
  });
  if (sealed?.kind === 'unavailable') unmended.push(findingOf(backend.place, sealed));
  const { findings, ...rest } = await examine(backend, unlocking, onProgress);
  const files = new Set(unmended.map(({ file }) => file));
  // The reason why a file could not be repaired is more useful than the finding that it needs repair.
  return {
    mended,
    examination: {
      ...rest,
      findings: [...unmended, ...lost, ...findings.filter(({ file }) => !files.has(file))],
    },
  };
}

/** Unlocks a generation; undefined if that is not possible before the store is repaired. */
const unlockIfPossible = (
  backend: Backend,
  credentials: readonly Credential[],
  generation: number,
): Promise<Keyring | undefined> =>
  readHeader(backend)
    .then(({ id }) => unlock(backend, id, credentials, generation))
    .catch(refusedAs(undefined));

const opening =
  (root: RootKey, backend: Backend): OpensBlob =>
  (ref, bytes) => {
    const open = () => root.open(ref, bytes, backend.locate(root.generation, ref));
    return unlessRefused(() => root.refOf(open().identity).name === ref.name, false, 'corrupt');
  };

/**
 * Finds the newest generation that is complete: a rekey was killed while it wrote the next one or deleted the previous
 * one.
 */
async function wholeGeneration(
  backend: Backend,
  credentials: readonly Credential[],
  generations: readonly number[],
): Promise<{ readonly generation: number; readonly keyring: Keyring }> {
  const { id } = await readHeader(backend);
  const refusals: unknown[] = [];
  for (const generation of generations) {
    try {
      const keyring = await unlock(backend, id, credentials, generation);
      const root = await keyring.root(backend, generation);
      const { slots, index } = await checkGeneration(backend, root, keyring);
      if (slots.findings.length + index.findings.length === 0) return { generation, keyring };
    } catch (error) {
      refusals.push(expected(error, 'corrupt', 'denied', 'unavailable'));
    }
  }
  if (refusals.length === generations.length) throw refusals[0];
  throw corrupt(
    placed`${backend.place} is damaged: generations ${generations.join(' and ')} could each be the current one, and neither is complete`,
    { hint: RESTORE },
  );
}

/** Checks the sealed blobs of a generation. */
async function checkGeneration(backend: Backend, root: RootKey, keyring: Keyring) {
  const survey = await surveyBlobs(backend, root);
  const files = await readSlotFiles(backend, root.generation);
  return { slots: checkSlots(survey, files, keyring), index: new IndexCheck(survey), unread: survey.unread };
}

async function mendSealed(backend: Backend, keyring: Keyring): Promise<Mended[]> {
  const needsMending = await readConsistently(backend, async ({ generation }) => {
    const root = await keyring.root(backend, generation);
    const { slots, index } = await checkGeneration(backend, root, keyring);
    return slots.listCanBeMade || index.newIndexes('stay').length > 0;
  });
  return needsMending ? backend.exclusive((session) => mendUnderLock(backend, session, keyring)) : [];
}

async function mendUnderLock(backend: Backend, session: WriteSession, keyring: Keyring): Promise<Mended[]> {
  const root = await keyring.root(backend, session.version.generation);
  const { slots, index, unread } = await checkGeneration(backend, root, keyring);
  // Rebuilding an index without a document that is only temporarily unreadable would lose that document.
  const [problem] = unread.values();
  if (problem !== undefined) throw problem;
  const mended: Mended[] = [];
  if (slots.listCanBeMade) {
    const list = sealSlotList(
      root,
      slots.sound.map(({ listed }) => listed),
    );
    await session.commit([list]);
    mended.push({
      file: printPlace(backend.locate(root.generation, list.ref)),
      done: 'was rebuilt: it lists the only key slot of the store, and the label of that slot is lost',
    });
  }
  // One at a time, so that at most one index is in memory; the list of collections comes last.
  for (const made of index.newIndexes('stay'))
    mended.push(...(await writeIndex(backend, session, root, made)));
  return mended;
}

async function writeIndex(
  backend: Backend,
  session: WriteSession,
  root: RootKey,
  made: NewIndex,
): Promise<Mended[]> {
  const { collection, ids, added, blobs, stale } = made;
  const fileOf = (identity: BlobIdentity): string =>
    printPlace(backend.locate(root.generation, root.refOf(identity)));
  await session.commit([
    ...blobs.map(({ identity, json }) => root.seal(identity, json)),
    ...stale.map((ref) => ({ ref, bytes: undefined })),
  ]);
  const what = collection === COLLECTIONS ? 'index of the store' : `index of ${collection}`;
  const done =
    blobs.length === 0
      ? `was a leftover of the ${what} and was deleted`
      : `was rebuilt: it is the ${what}, with ${ids} ${ids === 1 ? 'entry' : 'entries'}`;
  const index: Mended = { file: fileOf(headOf(collection)), done };
  if (collection === COLLECTIONS) return [index];
  // The document was always readable by ID; now it is listed as well.
  const listed = added.map((id) => ({
    file: fileOf({ space: 'document', collection, id }),
    done: `was missing from the index of ${collection} and was added to it again (${id}); if you had deleted it, delete it again`,
  }));
  return [index, ...listed];
}
