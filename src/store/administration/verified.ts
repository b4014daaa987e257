/** Whole stores on their way elsewhere: what is passed on was authenticated, and compared with what there should be. */
import { CofferError, corrupt, type Place, placed, type Text } from '../../ground/errors.ts';
import type { Backend, Blob } from '../backends/backend.ts';
import { readEvery } from '../backends/whole-store.ts';
import { REPAIR } from '../refusals.ts';
import type { OpenedBlob, RootKey } from '../root-key.ts';
import type { Keyring } from '../sealed/keyring.ts';
import type { Credential } from '../slots/credential.ts';
import { parseSlotFile, sealSlotList } from '../slots/slot-list.ts';
import { IndexCheck } from './index-check.ts';
import { checkSlots, type SlotCheck, type SoundSlot } from './slot-check.ts';
import type { Finding } from './status.ts';
import { type Locate, type Progress, type SoughtBlob, Survey, seekEvery } from './survey.ts';

/** What is done about damage: nothing goes on with it unless somebody has said so. */
export interface DamageOptions {
  /** Goes on without what is damaged or missing, with indexes and a list of slots that fit the rest. */
  readonly withoutDamaged?: boolean;
}

/** How a store is looked at on its way. */
export interface VerifyOptions extends DamageOptions {
  /** What unlocks it. Without any it is passed on as it is, and nobody knows whether it is whole. */
  readonly credentials?: readonly Credential[];
}

/** A whole store that is about to be read. */
export interface Source {
  readonly place: Place;
  readonly root: RootKey;
  readonly keyring: Keyring;
  readonly locate: Locate;
  readonly slots: readonly Blob[];
  /** In any order. */
  readonly documents: AsyncIterable<SoughtBlob>;
  /** What to do about damage, but for going on without. */
  readonly remedy: string;
}

export type VerifiedBlob = Blob &
  (
    | { readonly opened: OpenedBlob; readonly slot?: undefined }
    | { readonly opened?: undefined; readonly slot: SoundSlot }
  );

/** A store is damaged, and nobody has said that this does not matter. */
export class DamageError extends CofferError {
  readonly findings: readonly Finding[];

  constructor(place: Place, findings: readonly Finding[], remedy: string) {
    super('corrupt', damageText(place, findings), {
      hint: placed`${remedy}; --without-damaged goes on without what is lost`,
    });
    this.findings = findings;
  }
}

function damageText(place: Place, findings: readonly Finding[]): Text {
  const [only, ...more] = findings;
  if (only !== undefined && more.length === 0)
    return [{ inside: `${only.file} ${only.reason}`, outside: 'it is damaged' }];
  return placed`${findings.length} files of ${place} are damaged or missing`;
}

/** A store in a backend, at one version. */
export async function sourceOf(
  backend: Backend,
  keyring: Keyring,
  generation: number,
  onProgress?: Progress,
): Promise<Source> {
  const slots: Blob[] = [];
  const refs = (await backend.names(generation, 'slots')).map((name) => ({ area: 'slots', name }) as const);
  for await (const slot of readEvery(backend, { generation, revision: 0 }, refs)) slots.push(slot);
  return {
    place: backend.place,
    root: await keyring.root(backend, generation),
    keyring,
    locate: (ref) => backend.locate(generation, ref),
    slots,
    documents: seekEvery(backend, generation, onProgress),
    remedy: REPAIR,
  };
}

/**
 * Passes on every blob of a store that is whole: documents as they come, indexes and slots in the end, so that little is held at
 * a time.
 * @param leftOut takes what is left out.
 * @throws `DamageError` at the end when something is damaged or missing, unless it is to go on without it.
 */
export async function* verifiedBlobs(
  source: Source,
  leftOut: Finding[],
  { withoutDamaged = false }: DamageOptions,
): AsyncGenerator<VerifiedBlob> {
  const { root, locate, keyring, slots } = source;
  const survey = new Survey(root, locate);
  for await (const sought of source.documents) {
    const opened = survey.take(sought);
    const [unread] = survey.unread.values();
    if (unread !== undefined) throw unread;
    if (opened?.identity.space !== 'document' || sought.bytes === undefined) continue;
    yield { ref: sought.ref, bytes: sought.bytes, opened };
  }
  const files = slots.map(({ ref, bytes }) => parseSlotFile(ref.name, bytes, locate(ref)));
  const slotCheck = checkSlots(survey, files, keyring);
  const indexCheck = new IndexCheck(survey);
  const findings = [...slotCheck.findings, ...indexCheck.findings];
  if (findings.length > 0 && !withoutDamaged) throw new DamageError(source.place, findings, source.remedy);
  leftOut.push(...findings);
  yield* indexBlobs(survey, indexCheck);
  yield* soundSlots(source, survey, slotCheck);
}

/** The indexes as they are, or as they have to be without the documents that are lost. */
function* indexBlobs(survey: Survey, check: IndexCheck): Generator<VerifiedBlob> {
  const made = check.newIndexes('go');
  const replaced = new Set(made.flatMap(({ stale }) => stale.map(({ name }) => name)));
  for (const { identity, json } of made.flatMap(({ blobs }) => blobs)) {
    const blob = survey.root.seal(identity, json);
    replaced.add(blob.ref.name);
    yield { ...blob, opened: { identity, json } };
  }
  for (const { ref, bytes, identity, content } of survey.indexBlobs.values()) {
    if (!replaced.has(ref.name)) yield { ref, bytes, opened: { identity, json: JSON.stringify(content) } };
  }
}

function* soundSlots(
  source: Source,
  survey: Survey,
  { sound, findings }: SlotCheck,
): Generator<VerifiedBlob> {
  const [first] = sound;
  if (first === undefined)
    throw corrupt(placed`${source.place} has no slot left that its list of slots knows`, {
      hint: source.remedy,
    });
  const listed = sound.map((slot) => slot.listed);
  const kept = findings.length === 0 ? survey.slotList?.blob : undefined;
  const list = kept ?? sealSlotList(survey.root, listed);
  yield { ...list, opened: survey.root.open(list.ref, list.bytes, survey.locate(list.ref)) };
  for (const slot of sound) {
    const blob = source.slots.find(({ ref }) => ref.name === slot.listed.id);
    if (blob !== undefined) yield { ...blob, slot };
  }
}

/** For summaries: nothing when nothing was left out. */
export const leftOutOf = (leftOut: readonly Finding[]): { readonly leftOut?: readonly Finding[] } =>
  leftOut.length === 0 ? {} : { leftOut };
