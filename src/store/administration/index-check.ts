import { printPlace } from '../../ground/errors.ts';
import type { BlobRef } from '../backends/backend.ts';
import { GIVE_UP_OR_RESTORE, LIST_LOST, REPAIR } from '../refusals.ts';
import type { BlobIdentity } from '../root-key.ts';
import { COLLECTIONS, type Head, headOf, pageOf, writeIndex } from '../sealed/collection-index.ts';
import { SLOT_LIST } from '../slots/slot-list.ts';
import type { Finding } from './status.ts';
import type { Survey } from './survey.ts';

/** Plaintext blob of an index, before sealing. */
interface NewBlob {
  readonly identity: BlobIdentity;
  readonly json: string;
}

/** Index of a collection, rebuilt from its existing documents. */
export interface NewIndex {
  readonly collection: string;
  /** Number of IDs in it. */
  readonly ids: number;
  /** IDs that the old index did not contain, although it was intact. */
  readonly added: readonly string[];
  readonly blobs: readonly NewBlob[];
  /** Blobs of the old index that no blob of the new one replaces. */
  readonly stale: readonly BlobRef[];
}

/** Content of a collection's stored index. */
interface OldIndex {
  readonly ids: ReadonlySet<string>;
  /** Whether the index is intact. If a blob of it is damaged, missing or inconsistent, it may have had more IDs. */
  readonly sound: boolean;
  /** Upper bound of the page numbers, exclusive. */
  readonly pages: number;
}

/** Number of page numbers tried to identify a damaged blob if the head, and with it the number of pages, is lost. */
const PAGES_TRIED = 2048;

/** Compares the indexes of a surveyed store with its documents, and rebuilds the indexes that need it. */
export class IndexCheck {
  /** All problems of the sealed blobs, except what the list of slots says about slots. */
  readonly findings: Finding[] = [];
  readonly #survey: Survey;
  readonly #indexes = new Map<string, OldIndex>();
  readonly #collections: OldIndex;
  /** Names of the index blobs in use. */
  readonly #used = new Set<string>();
  /** Identities of damaged blobs, by blob name. */
  readonly #held = new Map<string, BlobIdentity>();

  constructor(survey: Survey) {
    this.#survey = survey;
    this.#collections = this.#read(COLLECTIONS);
    for (const collection of this.#everyCollection()) this.#indexes.set(collection, this.#read(collection));
    for (const collection of this.#indexes.keys()) this.#compare(collection);
    // All indexes have been read, so index blobs that are still unused are leftovers.
    if (this.#isSound) this.#reportUnused();
    this.#reportDamaged();
  }

  /**
   * Returns the indexes to rebuild, with the list of collections last.
   * @param lost whether lost documents stay listed, so that they are reported as missing from then on
   */
  newIndexes(lost: 'stay' | 'go'): NewIndex[] {
    const made: NewIndex[] = [];
    const collections = new Set<string>();
    for (const [collection, old] of this.#indexes) {
      const ids = new Set([...(lost === 'stay' ? old.ids : []), ...this.#documentsOf(collection)]);
      if (ids.size > 0) collections.add(collection);
      if (!old.sound || !isSame(ids, old.ids)) made.push(this.#newIndex(collection, ids, old));
    }
    const { sound, ids } = this.#collections;
    if (!sound || !isSame(collections, ids))
      made.push(this.#newIndex(COLLECTIONS, collections, this.#collections));
    const gone = new Set(made.flatMap(({ stale }) => stale.map(({ name }) => name)));
    const unused = this.#isSound ? this.#unused().filter(({ ref }) => !gone.has(ref.name)) : [];
    for (const { ref, identity } of unused)
      made.push({ collection: identity.collection, ids: 0, added: [], blobs: [], stale: [ref] });
    return made;
  }

  get #isSound(): boolean {
    return this.#collections.sound && [...this.#indexes.values()].every(({ sound }) => sound);
  }

  #everyCollection(): Set<string> {
    const all = new Set([...this.#collections.ids, ...this.#survey.documents.keys()]);
    // If the list of collections is lost, index blobs also reveal collections whose documents are all lost.
    if (this.#collections.sound) return all;
    for (const { identity } of this.#survey.indexBlobs.values()) all.add(identity.collection);
    all.delete(COLLECTIONS);
    return all;
  }

  #documentsOf(collection: string): ReadonlySet<string> {
    return this.#survey.documents.get(collection) ?? new Set();
  }

  #compare(collection: string): void {
    const { ids, sound } = this.#indexes.get(collection) ?? this.#read(collection);
    const documents = this.#documentsOf(collection);
    for (const id of ids) {
      if (!documents.has(id)) this.#noteLost({ space: 'document', collection, id });
    }
    if (sound && this.#collections.sound && !this.#collections.ids.has(collection))
      this.#report(headOf(collection), 'is not listed in the index of the store');
    if (!sound) return;
    for (const id of documents) {
      if (!ids.has(id))
        this.#report({ space: 'document', collection, id }, 'is missing from the index of its collection');
    }
  }

  #read(collection: string): OldIndex {
    const head = this.#content(headOf(collection)) as Head | undefined;
    if (head === undefined) return this.#readWithoutHead(collection);
    if ('ids' in head) return { ids: new Set(head.ids), sound: true, pages: 0 };
    const ids = new Set<string>();
    let sound = true;
    for (const [position, { page, from }] of head.pages.entries()) {
      const identity = pageOf(collection, page);
      const content = this.#content(identity) as { ids: string[] } | undefined;
      const end = head.pages[position + 1]?.from;
      for (const id of content?.ids ?? []) ids.add(id);
      const misplaced = content?.ids.some((id) => id < from || (end !== undefined && id >= end)) === true;
      if (misplaced) this.#report(identity, 'contradicts another file of the same index');
      sound &&= content !== undefined && !misplaced;
    }
    return { ids, sound, pages: head.next };
  }

  /** Reads the remaining pages of an index whose head is lost. */
  #readWithoutHead(collection: string): OldIndex {
    const left = [...this.#survey.indexBlobs.values()].filter(
      ({ identity }) => identity.collection === collection,
    );
    const ids = left.flatMap(({ content }) => (content as { ids?: string[] }).ids ?? []);
    if (this.#survey.damaged.size > 0)
      for (let page = 0; page < PAGES_TRIED; page++) this.#noteHeld(pageOf(collection, page));
    return { ids: new Set(ids), sound: false, pages: PAGES_TRIED };
  }

  /** Returns the content of an index blob that should exist. */
  #content(identity: BlobIdentity): unknown {
    const { name } = this.#survey.root.refOf(identity);
    this.#used.add(name);
    const blob = this.#survey.indexBlobs.get(name);
    if (blob === undefined && !this.#noteHeld(identity)) this.#report(identity, 'is missing');
    return blob?.content;
  }

  #noteLost(identity: BlobIdentity): void {
    if (this.#noteHeld(identity)) return;
    const { collection, id } = identity;
    this.findings.push({
      file: this.#placeOf(identity),
      reason: 'is missing',
      hint: GIVE_UP_OR_RESTORE,
      holds: { collection, id },
    });
  }

  /**
   * Records the identity of a damaged blob.
   * @returns whether the blob is damaged rather than missing
   */
  #noteHeld(identity: BlobIdentity): boolean {
    const { name } = this.#survey.root.refOf(identity);
    if (!this.#survey.damaged.has(name)) return false;
    this.#held.set(name, identity);
    return true;
  }

  #unused() {
    return [...this.#survey.indexBlobs.values()].filter(({ ref }) => !this.#used.has(ref.name));
  }

  #reportUnused(): void {
    for (const { identity } of this.#unused()) this.#report(identity, 'is an unused part of an index');
  }

  #reportDamaged(): void {
    this.#noteHeld(SLOT_LIST);
    for (const [name, finding] of this.#survey.damaged) {
      const held = this.#held.get(name);
      if (held?.space === 'index') this.findings.push({ ...finding, hint: REPAIR });
      else if (held?.space === 'slots') this.findings.push({ ...finding, hint: LIST_LOST });
      else
        this.findings.push({
          ...finding,
          hint: finding.hint === REPAIR || finding.hint === undefined ? GIVE_UP_OR_RESTORE : finding.hint,
          holds: held === undefined ? undefined : { collection: held.collection, id: held.id },
        });
    }
  }

  #report(identity: BlobIdentity, reason: string): void {
    this.findings.push({ file: this.#placeOf(identity), reason, hint: REPAIR });
  }

  #placeOf(identity: BlobIdentity): string {
    return printPlace(this.#survey.locate(this.#survey.root.refOf(identity)));
  }

  #newIndex(collection: string, ids: ReadonlySet<string>, before: OldIndex): NewIndex {
    const { root, indexBlobs, damaged, present } = this.#survey;
    const blobs: NewBlob[] = [];
    const save = (identity: BlobIdentity, value: object | undefined): void => {
      if (value !== undefined) blobs.push({ identity, json: JSON.stringify(value) });
    };
    writeIndex({ save }, collection, [...ids].sort());
    const kept = new Set(blobs.map(({ identity }) => root.refOf(identity).name));
    const old = new Set([root.refOf(headOf(collection)).name]);
    for (const { ref, identity } of indexBlobs.values())
      if (identity.collection === collection) old.add(ref.name);
    if (damaged.size > 0)
      for (let page = 0; page < before.pages; page++) old.add(root.refOf(pageOf(collection, page)).name);
    const stale = [...old].filter((name) => present.has(name) && !kept.has(name));
    return {
      collection,
      ids: ids.size,
      added: before.sound ? [...ids].filter((id) => !before.ids.has(id)) : [],
      blobs,
      stale: stale.map((name) => ({ area: 'documents', name })),
    };
  }
}

const isSame = (a: ReadonlySet<string>, b: ReadonlySet<string>): boolean =>
  a.size === b.size && [...a].every((id) => b.has(id));
