import { asCofferError, type Place, printPlace, printText } from '../../ground/errors.ts';
import type { Backend, Version } from '../backends/backend.ts';
import type { Location } from '../backends/backend-kind.ts';
import { withBackendAt } from '../backends/registry.ts';
import { readConsistently } from '../backends/whole-store.ts';
import { readHeader } from '../header.ts';
import { REPAIR } from '../refusals.ts';
import type { Keyring } from '../sealed/keyring.ts';
import type { Credential } from '../slots/credential.ts';
import { readSlotFiles } from '../slots/slot-list.ts';
import { unlock } from '../slots/unlock.ts';
import { IndexCheck } from './index-check.ts';
import { checkSlots } from './slot-check.ts';
import { type Finding, findingOf } from './status.ts';
import { type Progress, surveyBlobs } from './survey.ts';

export interface ExamineOptions {
  readonly location: Location;
  readonly credentials: readonly Credential[];
  /** Called after each file with the number of files looked at and their total. */
  readonly onProgress?: Progress;
}

export interface Examination {
  /** Files that were looked at. */
  readonly checked: number;
  /** False when damage kept the store locked, so that documents could not be checked. */
  readonly unlocked: boolean;
  /** Empty when all is well; sorted by file. */
  readonly findings: readonly Finding[];
}

/** Unlocks the store with this id. */
export type Unlocking = (storeId: string) => Promise<Keyring>;

/**
 * Checks a whole store: its directories, header, slots, every sealed file, the indexes, and files that don't belong there.
 * Damage is reported, not thrown. Mends nothing.
 * @throws `sealed`, `denied`, `not-found`, `unavailable` as `openStore` does.
 */
export async function examineStore(options: ExamineOptions): Promise<Examination> {
  return withBackendAt(options.location, (backend) =>
    examineBackend(backend, options.credentials, options.onProgress),
  );
}

/** As `examineStore`, for a store in any backend. */
export const examineBackend = (
  backend: Backend,
  credentials: readonly Credential[],
  onProgress?: Progress,
): Promise<Examination> => examine(backend, (id) => unlock(backend, id, credentials), onProgress);

/** As `examineBackend`, for who unlocks it in another way. */
export async function examine(
  backend: Backend,
  unlocking: Unlocking,
  onProgress?: Progress,
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
  // What keeps it locked is found again among its slots, unless none is left.
  const whyLocked: Finding[] = [...flaws];
  const keyring = await unlessDamaged(() => unlocking(header.id), backend.place, whyLocked);
  const examineIt = (version: Version, view: Backend): Promise<Examination> =>
    keyring === undefined
      ? examineSlots(view, version, whyLocked.slice(flaws.length))
      : examineVersion(view, version, keyring, new Set(flaws.map(({ file }) => file)), onProgress);
  const unfinished: Finding[] = [...flaws];
  const examination =
    (await unlessDamaged(() => readConsistently(backend, examineIt), backend.place, unfinished)) ??
    (await examineIt(state, backend));
  const findings = [...unfinished, ...examination.findings].sort(byFile);
  // What a change that is not finished seems to have lost comes back when it is finished or given up.
  return {
    ...examination,
    findings: state.settled ? findings : findings.map((found) => ({ ...found, hint: REPAIR })),
  };
}

/** All that can be told of a store that stays locked. */
async function examineSlots(
  backend: Backend,
  version: Version,
  whyLocked: readonly Finding[],
): Promise<Examination> {
  const slotFiles = await readSlotFiles(backend, version.generation);
  const damaged = slotFiles.flatMap(({ place, problem }) =>
    problem === undefined ? [] : [findingOf(place, problem)],
  );
  const reasons = damaged.length > 0 ? damaged : whyLocked;
  return {
    checked: slotFiles.length + 1,
    unlocked: false,
    findings: [...(await strayFindings(backend)), ...reasons],
  };
}

async function examineVersion(
  backend: Backend,
  version: Version,
  keyring: Keyring,
  flawed: ReadonlySet<string>,
  onProgress: Progress | undefined,
): Promise<Examination> {
  const slotFiles = await readSlotFiles(backend, version.generation);
  const root = await keyring.root(backend, version.generation);
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
    reason: 'is no part of the store',
    hint: 'move it elsewhere, or delete it if you know what it is',
  }));
}

/**
 * Undefined, and a finding, when the store is damaged.
 * @param findings where flaws of the store's place are found already, that it can't be used is one of them.
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
