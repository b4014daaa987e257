import { readFileSync, writeFileSync } from 'node:fs';
import { basename } from 'node:path';
import { expect } from 'vitest';
import { printPlace } from '../../src/ground/errors.ts';
import { examineStore, type Repair, repairStore } from '../../src/store/administration/repair.ts';
import type { Finding } from '../../src/store/administration/status.ts';
import type { BlobIdentity } from '../../src/store/root-key.ts';
import type { SealedStore } from '../../src/store/sealed/sealed-store.ts';
import type { DocumentRef } from '../../src/store/store.ts';
import { intoDocuments, newStoreDirectory, openWithKey, rawCredential } from './temporary-store.ts';

export const IDS = ['one', 'two', 'three'];
export const at = (id: string, collection = 'things'): DocumentRef => ({ collection, id });

/** Puts the documents of `IDS` into "things", and "solo" into "others". */
export const fillSmall = (store: SealedStore): Promise<void> =>
  store.transact((tx) => {
    for (const id of IDS) tx.put(at(id), { id });
    tx.put(at('solo', 'others'), { n: 3 });
  });

/** A store with the documents of `fillSmall`. */
export async function smallStore(): Promise<string> {
  const directory = await newStoreDirectory();
  const store = await openWithKey(directory);
  await fillSmall(store);
  store.close();
  await intoDocuments(directory);
  return directory;
}

export const examined = async (directory: string): Promise<readonly Finding[]> =>
  (await examineStore({ location: directory, credentials: [rawCredential()] })).findings;

export const repaired = (directory: string): Promise<Repair> =>
  repairStore({ location: directory, credentials: [rawCredential()] });

/** Repairs, and expects that all is well. @returns the names of the files that were mended, sorted. */
export async function mended(directory: string): Promise<readonly string[]> {
  const { mended: done, examination } = await repaired(directory);
  expect(examination.findings).toEqual([]);
  expect(await examined(directory)).toEqual([]);
  return done.map(({ file }) => basename(file)).sort();
}

/** Every document that is listed. */
export async function contentOf(directory: string): Promise<Record<string, unknown>> {
  const store = await openWithKey(directory);
  const content: Record<string, unknown> = {};
  for (const collection of ['things', 'others', 'many']) {
    for (const id of await store.read((view) => view.list(collection)))
      content[`${collection}/${id}`] = await store.read((view) => view.get(at(id, collection)));
  }
  store.close();
  return content;
}

/** Where the file of an identity is. */
export async function pathOf(directory: string, identity: BlobIdentity): Promise<string> {
  const store = await openWithKey(directory);
  const { generation } = await store.backend.state();
  const root = await store.keyring.root(store.backend, generation);
  store.close();
  return printPlace(store.backend.locate(generation, root.refOf(identity)));
}

export function flip(path: string, position: number, bit = 0): void {
  const bytes = readFileSync(path);
  bytes.writeUInt8(bytes.readUInt8(position) ^ (1 << bit), position);
  writeFileSync(path, bytes);
}
