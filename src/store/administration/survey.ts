import { corrupt, placed } from '../../ground/errors.ts';
import type { Backend, BlobRef } from '../backends/backend.ts';
import { missing } from '../refusals.ts';
import type { Identity, OpenedBlob, RootKey } from '../root-key.ts';
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
