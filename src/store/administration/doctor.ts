import { asCofferError, type Place, printPlace } from '../../ground/errors.ts';
import type { Backend, Version } from '../backends/backend.ts';
import type { Location } from '../backends/backend-kind.ts';
import { withBackendAt } from '../backends/registry.ts';
import { readConsistently } from '../backends/whole-store.ts';
import { readHeader } from '../header.ts';
import type { RootKey } from '../root-key.ts';
import type { Keyring } from '../sealed/keyring.ts';
import type { Credential } from '../slots/credential.ts';
import { compareSlots, openSlotList, readSlotFiles, SLOT_LIST } from '../slots/slot-list.ts';
import { unlock } from '../slots/unlock.ts';
import { type Finding, findingOf } from './status.ts';
import { checkIndexes, type Progress, type Survey, surveyBlobs } from './survey.ts';

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

/**
 * Checks a whole store: header, slots, every sealed file, the indexes, and files that don't belong there.
 * Damage is reported, not thrown. Mends nothing.
 * @throws `sealed`, `denied`, `not-found`, `unavailable` as `openStore` does.
 */
export async function examineStore(options: ExamineOptions): Promise<Examination> {
  return withBackendAt(options.location, (backend) =>
    examineBackend(backend, options.credentials, options.onProgress),
  );
}

/** As `examineStore`, for a store in any backend. */
export async function examineBackend(
  backend: Backend,
  credentials: readonly Credential[],
  onProgress?: Progress,
): Promise<Examination> {
  const locked: Finding[] = [];
  const header = await unlessCorrupt(() => readHeader(backend), backend.headerPlace, locked);
  if (header === undefined) return { checked: 1, unlocked: false, findings: locked };
  const present = await unlessCorrupt(() => backend.state(), backend.place, locked);
  if (present === undefined) return { checked: 1, unlocked: false, findings: locked };
  const keyring = await unlessCorrupt(() => unlock(backend, header.id, credentials), backend.place, []);
  const examine = (version: Version, view: Backend): Promise<Examination> =>
    examineVersion(view, version, keyring, onProgress);
  const unfinished: Finding[] = [];
  const examination =
    (await unlessCorrupt(() => readConsistently(backend, examine), backend.place, unfinished)) ??
    (await examine(present, backend));
  return { ...examination, findings: [...unfinished, ...examination.findings].sort(byFile) };
}

async function examineVersion(
  backend: Backend,
  version: Version,
  keyring: Keyring | undefined,
  onProgress: Progress | undefined,
): Promise<Examination> {
  const strays = (await backend.strays()).map((place) => ({
    file: printPlace(place),
    reason: 'is no part of the store',
    hint: 'move it elsewhere, or delete it if you know what it is',
  }));
  const slotFiles = await readSlotFiles(backend, version.generation);
  const ownFiles = slotFiles.length + 1;
  if (keyring === undefined) {
    const damaged = slotFiles.flatMap(({ place, problem }) =>
      problem === undefined ? [] : [findingOf(place, problem)],
    );
    return { checked: ownFiles, unlocked: false, findings: [...strays, ...damaged] };
  }
  const root = await keyring.root(backend, version.generation);
  const survey = await surveyBlobs(backend, root, onProgress);
  return {
    checked: ownFiles + survey.checked,
    unlocked: true,
    findings: [
      ...strays,
      ...survey.findings,
      ...(await slotFindings(backend, root, survey)),
      ...checkIndexes(backend, root, survey),
    ],
  };
}

/** What is wrong with the slots, but for a damaged list of them, which the survey has found already. */
async function slotFindings(backend: Backend, root: RootKey, survey: Survey): Promise<Finding[]> {
  const list = root.refOf(SLOT_LIST);
  if (survey.damaged.has(list.name)) return [];
  const missing: Finding[] = [];
  const listed = await unlessCorrupt(
    () => openSlotList(backend, root),
    backend.locate(root.generation, list),
    missing,
  );
  if (listed === undefined) return missing;
  const problems = await compareSlots(backend, root, listed);
  return problems.map(({ place, problem }) => findingOf(place, problem));
}

/** Undefined, and a finding, when the store is damaged. */
async function unlessCorrupt<T>(
  run: () => Promise<T>,
  place: Place,
  findings: Finding[],
): Promise<T | undefined> {
  try {
    return await run();
  } catch (error) {
    if (asCofferError(error)?.kind !== 'corrupt') throw error;
    findings.push(findingOf(place, error));
    return undefined;
  }
}

const byFile = (a: Finding, b: Finding): number => (a.file < b.file ? -1 : a.file > b.file ? 1 : 0);
