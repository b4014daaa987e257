import { corrupt, placed, printPlace } from '../../ground/errors.ts';
import type { Backend, BlobRef } from '../backends/backend.ts';
import { BRING_BACK, missing } from '../refusals.ts';
import type { Identity, OpenedBlob, RootKey } from '../root-key.ts';
import { COLLECTIONS, type Head, headOf, pageOf } from '../sealed/collection-index.ts';
import { type Finding, findingOf } from './status.ts';

export type Progress = (done: number, total: number) => void;

/** What every sealed blob of a store turned out to be. */
export interface Survey {
  readonly checked: number;
  readonly findings: readonly Finding[];
  /** Names of the blobs that don't open. */
  readonly damaged: ReadonlySet<string>;
  /** Names of all blobs. */
  readonly present: ReadonlySet<string>;
  /** Ids of the documents that open, by collection. */
  readonly documents: ReadonlyMap<string, ReadonlySet<string>>;
  /** Parsed content of the index blobs that open, by name. */
  readonly indexBlobs: ReadonlyMap<string, { readonly identity: Identity; readonly content: unknown }>;
}

/** Others get a turn after so many blobs. */
const BREATHER = 64;

/** Opens every sealed blob of the root key's generation. */
export async function surveyBlobs(backend: Backend, root: RootKey, onProgress?: Progress): Promise<Survey> {
  const names = (await backend.names(root.generation, 'documents')).sort();
  const findings: Finding[] = [];
  const damaged = new Set<string>();
  const documents = new Map<string, Set<string>>();
  const indexBlobs = new Map<string, { identity: Identity; content: unknown }>();
  for (const [done, name] of names.entries()) {
    const ref: BlobRef = { area: 'documents', name };
    try {
      const { identity, json } = await openBlob(backend, root, ref);
      if (identity.space === 'document') {
        const ids = documents.get(identity.collection) ?? new Set<string>();
        documents.set(identity.collection, ids.add(identity.id));
      } else if (identity.space === 'index') {
        indexBlobs.set(name, { identity, content: JSON.parse(json) });
      }
    } catch (error) {
      damaged.add(name);
      findings.push(findingOf(backend.locate(root.generation, ref), error));
    }
    onProgress?.(done + 1, names.length);
    if (done % BREATHER === 0) await new Promise(setImmediate);
  }
  return { checked: names.length, findings, damaged, present: new Set(names), documents, indexBlobs };
}

async function openBlob(backend: Backend, root: RootKey, ref: BlobRef): Promise<OpenedBlob> {
  const place = backend.locate(root.generation, ref);
  const bytes = await backend.read(root.generation, ref);
  if (bytes === undefined) throw missing(place);
  const opened = root.open(ref, bytes, place);
  if (root.refOf(opened.identity).name !== ref.name)
    throw corrupt(placed`${place} has the name of another file`);
  return opened;
}

/** Whether the indexes and the documents of a surveyed store agree. What a damaged blob may explain is not reported. */
export function checkIndexes(backend: Backend, root: RootKey, survey: Survey): Finding[] {
  return new IndexCheck(backend, root, survey).run();
}

/** The ids that an index has. */
interface IndexedIds {
  readonly ids: ReadonlySet<string>;
  /** False when a blob of the index is damaged or missing, so that there may be more. */
  readonly complete: boolean;
}

class IndexCheck {
  readonly #backend: Backend;
  readonly #root: RootKey;
  readonly #survey: Survey;
  readonly #findings: Finding[] = [];
  /** Names of the index blobs that some index uses. */
  readonly #used = new Set<string>();

  constructor(backend: Backend, root: RootKey, survey: Survey) {
    this.#backend = backend;
    this.#root = root;
    this.#survey = survey;
  }

  run(): Finding[] {
    const known = this.#read(COLLECTIONS);
    const all = new Set([...known.ids, ...this.#survey.documents.keys()]);
    let complete = known.complete;
    for (const collection of all) complete = this.#checkCollection(collection) && complete;
    // When everything that could use them was read, index blobs that nobody used are left over.
    if (complete) this.#reportUnused();
    return this.#findings;
  }

  /** @returns whether the whole index could be read. */
  #checkCollection(collection: string): boolean {
    const indexed = this.#read(collection);
    const documents = this.#survey.documents.get(collection) ?? new Set<string>();
    for (const id of indexed.ids) {
      if (!documents.has(id)) this.#reportMissing({ space: 'document', collection, id });
    }
    if (!indexed.complete) return false;
    for (const id of documents) {
      if (!indexed.ids.has(id)) {
        this.#report({ space: 'document', collection, id }, 'is not in the index of its collection');
      }
    }
    return true;
  }

  #read(collection: string): IndexedIds {
    const head = this.#content(headOf(collection)) as Head | undefined;
    if (head === undefined) return { ids: new Set(), complete: false };
    if ('ids' in head) return { ids: new Set(head.ids), complete: true };
    const ids = new Set<string>();
    let complete = true;
    for (const [position, { page, from }] of head.pages.entries()) {
      const identity = pageOf(collection, page);
      const content = this.#content(identity) as { ids: string[] } | undefined;
      complete &&= content !== undefined;
      const end = head.pages[position + 1]?.from;
      for (const id of content?.ids ?? []) ids.add(id);
      const misplaced = content?.ids.some((id) => id < from || (end !== undefined && id >= end));
      if (misplaced === true) this.#report(identity, 'does not fit the head of its index');
    }
    return { ids, complete };
  }

  /** The content of an index blob that should exist. */
  #content(identity: Identity): unknown {
    const { name } = this.#root.refOf(identity);
    this.#used.add(name);
    const blob = this.#survey.indexBlobs.get(name);
    if (blob === undefined) this.#reportMissing(identity);
    return blob?.content;
  }

  #reportMissing(identity: Identity): void {
    if (!this.#survey.present.has(this.#root.refOf(identity).name)) this.#report(identity, 'is missing');
  }

  #reportUnused(): void {
    for (const [name, { identity }] of this.#survey.indexBlobs) {
      if (!this.#used.has(name)) this.#report(identity, 'belongs to no index');
    }
  }

  #report(identity: Identity, reason: string): void {
    const place = this.#backend.locate(this.#root.generation, this.#root.refOf(identity));
    this.#findings.push({ file: printPlace(place), reason, hint: BRING_BACK });
  }
}
