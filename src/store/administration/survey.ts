import { asCofferError, corrupt, type Place, placed, printPlace } from '../../ground/errors.ts';
import { turn } from '../../ground/pause.ts';
import type { Backend, Blob, BlobRef } from '../backends/backend.ts';
import { errorCode } from '../backends/files/disk-errors.ts';
import type { OnFile } from '../backends/whole-store.ts';
import { LIST_LOST, missing, REPAIR } from '../refusals.ts';
import type { BlobIdentity, OpenedBlob, RootKey } from '../root-key.ts';
import type { Slot } from '../slots/slot-keys.ts';
import {
  compareSlotFiles,
  type Keyring,
  type ListedSlot,
  parseSlotList,
  SLOT_LIST,
  type SlotFile,
} from '../slots/slot-list.ts';
import { type Finding, findingOf, findingsIn } from './status.ts';

export type Locate = (ref: BlobRef) => Place;

/** Sealed blob of a store, or the reason why it could not be read. */
export interface SoughtBlob {
  readonly ref: BlobRef;
  readonly bytes: Uint8Array | undefined;
  readonly problem?: unknown;
}

interface IndexBlob extends Blob {
  readonly identity: BlobIdentity;
  /** Parsed content. */
  readonly content: unknown;
}

/** Yield interval: number of blobs after which other tasks get a turn. */
const BREATHER = 64;

/** Inventory of every sealed blob of a store. The documents themselves are not kept. */
export class Survey {
  readonly root: RootKey;
  readonly locate: Locate;
  /** Findings for blobs that could not be read or opened, by blob name. */
  readonly damaged = new Map<string, Finding>();
  /** Names of all blobs. */
  readonly present = new Set<string>();
  /** IDs of the documents that could be opened, by collection. */
  readonly documents = new Map<string, Set<string>>();
  /** Index blobs that could be opened, by name. */
  readonly indexBlobs = new Map<string, IndexBlob>();
  /** Errors of blobs that could not be read although they may exist and be intact, by file. */
  readonly unread = new Map<string, unknown>();
  /** List of slots in the store; undefined if it is missing or cannot be opened. */
  slotList: { readonly blob: Blob; readonly slots: readonly ListedSlot[] } | undefined;

  constructor(root: RootKey, locate: Locate) {
    this.root = root;
    this.locate = locate;
  }

  /**
   * Adds a blob.
   * @returns undefined if it is damaged, which is added to the findings
   */
  take({ ref, bytes, problem }: SoughtBlob): OpenedBlob | undefined {
    this.present.add(ref.name);
    try {
      if (bytes === undefined) throw problem ?? missing(this.locate(ref));
      const opened = this.#open(ref, bytes);
      this.#note(ref, bytes, opened);
      return opened;
    } catch (error) {
      const finding = findingOf(this.locate(ref), error);
      if (!isLoss(error)) this.unread.set(finding.file, error);
      this.damaged.set(ref.name, finding);
      return undefined;
    }
  }

  #open(ref: BlobRef, bytes: Uint8Array): OpenedBlob {
    const place = this.locate(ref);
    const opened = this.root.open(ref, bytes, place);
    if (this.root.refOf(opened.identity).name !== ref.name)
      throw corrupt(placed`${place} is misplaced: it has the content of another file of the store`, {
        hint: REPAIR,
      });
    return opened;
  }

  #note(ref: BlobRef, bytes: Uint8Array, { identity, json }: OpenedBlob): void {
    if (identity.space === 'document') {
      const ids = this.documents.get(identity.collection) ?? new Set<string>();
      this.documents.set(identity.collection, ids.add(identity.id));
    } else if (identity.space === 'index') {
      this.indexBlobs.set(ref.name, { ref, bytes, identity, content: JSON.parse(json) });
    } else {
      this.slotList = { blob: { ref, bytes }, slots: parseSlotList(json) };
    }
  }
}

/** Yields the sealed blobs of a generation one at a time; an unreadable blob does not hide the others. */
export async function* seekEvery(
  backend: Backend,
  generation: number,
  onProgress?: OnFile,
): AsyncGenerator<SoughtBlob> {
  const names = (await backend.names(generation, 'documents', true)).sort();
  for (const [done, name] of names.entries()) {
    const ref: BlobRef = { area: 'documents', name };
    try {
      yield { ref, bytes: await backend.read(generation, ref) };
    } catch (problem) {
      yield { ref, bytes: undefined, problem };
    }
    onProgress?.(done + 1, names.length);
    if (done % BREATHER === 0) await turn();
  }
}

/** Whether an unreadable blob is lost. A database that does not respond, or missing permissions, prove no loss. */
const isLoss = (problem: unknown): boolean => {
  const error = asCofferError(problem);
  return error?.kind === 'corrupt' || errorCode(error?.cause) === 'EIO';
};

/** Opens every sealed blob of the root key's generation. */
export async function surveyBlobs(backend: Backend, root: RootKey, onProgress?: OnFile): Promise<Survey> {
  const survey = new Survey(root, (ref) => backend.locate(root.generation, ref));
  for await (const blob of seekEvery(backend, root.generation, onProgress)) survey.take(blob);
  return survey;
}

/** Slot whose file matches the list of slots. */
export interface SoundSlot {
  readonly listed: ListedSlot;
  readonly slot: Slot;
}

export interface SlotCheck {
  /** Problems of the slots, except a damaged list of slots. */
  readonly findings: readonly Finding[];
  /** Intact slots. Without the list: only the slot that unlocked the store. */
  readonly sound: readonly SoundSlot[];
  /** Whether a lost list can be rebuilt: it can only have contained the slot that unlocked the store. */
  readonly listCanBeMade: boolean;
}

/** Compares the slot files with the list of slots of a surveyed store. */
export function checkSlots(survey: Survey, files: readonly SlotFile[], keyring: Keyring): SlotCheck {
  const { slotList, root, locate } = survey;
  if (slotList !== undefined) {
    const problems = compareSlotFiles(files, slotList.slots, locate);
    const wrong = new Set(problems.map(({ id }) => id));
    return {
      findings: problems.map(({ place, problem }) => findingOf(place, problem)),
      sound: soundSlots(slotList.slots, files).filter(({ listed }) => !wrong.has(listed.id)),
      listCanBeMade: false,
    };
  }
  const list = root.refOf(SLOT_LIST);
  const missing: Finding = { file: printPlace(locate(list)), reason: 'is missing', hint: LIST_LOST };
  const broken = findingsIn(files);
  const own = files.flatMap(({ slot }) => (slot?.id === keyring.slotId ? [keyring.listedSlot(slot)] : []));
  return {
    findings: survey.present.has(list.name) ? broken : [missing, ...broken],
    sound: soundSlots(own, files),
    listCanBeMade: files.length === 1 && own.length === 1,
  };
}

const soundSlots = (listed: readonly ListedSlot[], files: readonly SlotFile[]): SoundSlot[] =>
  listed.flatMap((one) => files.flatMap(({ slot }) => (slot?.id === one.id ? [{ listed: one, slot }] : [])));
