/** Transfers whole stores (backup, restore, copy). Every blob is authenticated and checked for completeness. */
import { CofferError, corrupt, type Place, placed, type Text } from '../../ground/errors.ts';
import type { Backend, Blob } from '../backends/backend.ts';
import { type OnFile, readEvery } from '../backends/whole-store.ts';
import { REPAIR } from '../refusals.ts';
import type { OpenedBlob, RootKey } from '../root-key.ts';
import { type Keyring, parseSlotFile, sealSlotList } from '../slots/slot-list.ts';
import type { Credential } from '../slots/unlock.ts';
import { IndexCheck } from './index-check.ts';
import type { Finding } from './status.ts';
import {
  checkSlots,
  type Locate,
  type SlotCheck,
  type SoughtBlob,
  type SoundSlot,
  Survey,
  seekEvery,
} from './survey.ts';

/** How to handle damage. Fails by default. */
export interface DamageOptions {
  /** Whether to continue without damaged or missing files, with indexes and a list of slots that match the rest. */
  readonly withoutDamaged?: boolean;
  /** Whether what is left out is lost, because the store itself is rewritten. */
  readonly isFinal?: boolean;
}

/** Options for verifying a store during a transfer. */
export interface VerifyOptions extends DamageOptions {
  /** Credentials to verify the store with. Without any, blobs are copied unverified. */
  readonly credentials?: readonly Credential[];
}

/** Whole store that is about to be read. */
export interface StoreSource {
  readonly place: Place;
  readonly root: RootKey;
  readonly keyring: Keyring;
  readonly locate: Locate;
  readonly slots: readonly Blob[];
  /** Sealed documents, in any order. */
  readonly documents: AsyncIterable<SoughtBlob>;
  /** Remedy for damage to suggest, besides continuing without the damaged files. */
  readonly remedy: string;
}

type VerifiedBlob = Blob &
  (
    | { readonly opened: OpenedBlob; readonly slot?: undefined }
    | { readonly opened?: undefined; readonly slot: SoundSlot }
  );

/** Thrown if a store is damaged and `withoutDamaged` is not set. */
export class DamageError extends CofferError {
  readonly findings: readonly Finding[];

  constructor({ place, remedy }: StoreSource, findings: readonly Finding[], isFinal: boolean) {
    super('corrupt', damageText(place, findings), {
      hint: isFinal
        ? placed`${remedy}; use --without-damaged to permanently drop what is lost, such as keys or tokens`
        : placed`${remedy}; use --without-damaged to skip what is lost, such as keys or tokens`,
    });
    this.findings = findings;
  }
}

function damageText(place: Place, findings: readonly Finding[]): Text {
  const [only, ...more] = findings;
  if (only !== undefined && more.length === 0)
    return [{ inside: `${only.file} ${only.reason}`, outside: 'the store is damaged' }];
  return placed`${findings.length} files of ${place} are damaged or missing`;
}

/** Reads a store in a backend at one version. */
export async function sourceOf(
  backend: Backend,
  keyring: Keyring,
  generation: number,
  onProgress?: OnFile,
): Promise<StoreSource> {
  const slots: Blob[] = [];
  for await (const slot of readEvery(backend, generation, undefined, ['slots'])) slots.push(slot);
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
 * Passes on every blob of an undamaged store: documents as they arrive, indexes and slots at the end, so that little is
 * in memory at a time.
 * @param leftOut receives the files that are left out
 * @throws `DamageError` at the end if something is damaged or missing and `withoutDamaged` is not set
 */
export async function* verifiedBlobs(
  source: StoreSource,
  leftOut: Finding[],
  { withoutDamaged = false, isFinal = false }: DamageOptions,
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
  if (findings.length > 0 && !withoutDamaged) throw new DamageError(source, findings, isFinal);
  leftOut.push(...findings);
  yield* indexBlobs(survey, indexCheck);
  yield* soundSlots(source, survey, slotCheck);
}

/** Yields the indexes unchanged, or rebuilt without the lost documents. */
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
  source: StoreSource,
  survey: Survey,
  { sound, findings }: SlotCheck,
): Generator<VerifiedBlob> {
  const [first] = sound;
  if (first === undefined)
    throw corrupt(placed`${source.place} has no valid key slot left`, {
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

/** Counts blobs as they pass. @param ended aborted to give up */
export async function* counted(
  blobs: AsyncIterable<Blob>,
  count: { files: number; bytes: number },
  ended?: AbortSignal,
): AsyncGenerator<Blob> {
  for await (const blob of blobs) {
    ended?.throwIfAborted();
    count.files++;
    count.bytes += blob.bytes.length;
    yield blob;
  }
}

/** Returns the `leftOut` member of a summary; empty if nothing was left out. */
export const leftOutOf = (leftOut: readonly Finding[]): { readonly leftOut?: readonly Finding[] } =>
  leftOut.length === 0 ? {} : { leftOut };
