import { asCofferError, type Place, printPlace, printText } from '../../ground/errors.ts';
import type { Backend, Version } from '../backends/backend.ts';
import type { Location } from '../backends/backend-kind.ts';
import { withBackendAt } from '../backends/registry.ts';
import { type OnFile, readConsistently } from '../backends/whole-store.ts';
import { readHeader } from '../header.ts';
import { RESTORE } from '../refusals.ts';
import type { Credential } from '../slots/credential.ts';
import type { Keyring } from '../slots/keyring.ts';
import { readSlotFiles } from '../slots/slot-list.ts';
import { unlock } from '../slots/unlock.ts';
import { IndexCheck } from './index-check.ts';
import { type Finding, findingOf, findingsIn } from './status.ts';
import { checkSlots, surveyBlobs } from './survey.ts';

export interface ExamineOptions {
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
