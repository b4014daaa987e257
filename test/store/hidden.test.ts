import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { addSlot } from '../../src/store/administration/slots.ts';
import { intoDocuments, newStoreDirectory, openWithKey } from './temporary-store.ts';

const words = [
  'transit/payments/keys',
  'invoice-key',
  'very-secret-content',
  'a label',
  'collection-two',
  'other-id',
];

async function filledStore(): Promise<string> {
  const directory = await newStoreDirectory();
  const store = await openWithKey(directory);
  await store.transact((tx) => {
    tx.put({ collection: 'transit/payments/keys', id: 'invoice-key' }, { text: 'very-secret-content' });
    tx.put({ collection: 'collection-two', id: 'other-id' }, {});
  });
  await addSlot(store, { kind: 'raw', key: new Uint8Array(32).fill(9), label: 'a label' });
  await intoDocuments(directory);
  await store.transact((tx) => {
    tx.put({ collection: 'transit/payments/keys', id: 'invoice-key' }, { text: 'very-secret-content' });
  });
  return directory;
}

/** Path and content of every file. */
const filesOf = (directory: string): [string, Buffer][] =>
  (readdirSync(directory, { recursive: true }) as string[])
    .filter((name) => statSync(join(directory, name)).isFile())
    .map((name) => [name, readFileSync(join(directory, name))]);

it('a store shows no collection, id, label or content in any of its files, in any usual spelling', async () => {
  const files = filesOf(await filledStore());
  expect(files.length).toBeGreaterThan(8);
  for (const word of words) {
    const bytes = Buffer.from(word);
    const spellings = [
      word,
      bytes.toString('hex'),
      bytes.toString('base64').replace(/=+$/, ''),
      bytes.toString('utf16le'),
    ];
    for (const [name, content] of files) {
      for (const spelling of spellings) {
        expect(name).not.toContain(spelling);
        expect(content.includes(spelling, 0, 'latin1')).toBe(false);
      }
    }
  }
});

it('two stores of equal inputs share no file content and no document name', async () => {
  const [one, two] = [filesOf(await filledStore()), filesOf(await filledStore())];
  const contents = new Set(
    one.map(([, content]) => content.toString('base64')).filter((text) => text !== ''),
  );
  for (const [, content] of two) expect(contents.has(content.toString('base64'))).toBe(false);
  const documents = (files: [string, Buffer][]) =>
    files.map(([name]) => name).filter((name) => name.includes('documents'));
  expect(documents(one).filter((name) => documents(two).includes(name))).toEqual([]);
});

it('a store seals equal content differently each time', async () => {
  const directory = await newStoreDirectory();
  const store = await openWithKey(directory);
  const seen = new Set<string>();
  for (let i = 0; i < 5; i++) {
    await store.transact((tx) => tx.put({ collection: 'c', id: 'x' }, { same: true }));
    const contents = filesOf(directory).map(([, content]) => content.toString('base64'));
    seen.add(contents.sort().join());
  }
  expect(seen.size).toBe(5);
});
