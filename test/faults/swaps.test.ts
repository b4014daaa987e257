import { readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type Coffer, openStore } from '../../src/library.ts';
import { intoDocuments } from '../store/temporary-store.ts';
import { ailments, pictureOf } from './picture.ts';
import { MASTER_KEY, type Sandbox } from './sandbox.ts';
import { Tally } from './tally.ts';
import { usualTemplate } from './template.ts';

const template = usualTemplate();

const open = (directory: string): Promise<Coffer> =>
  openStore({ location: directory, masterKey: MASTER_KEY });
const base64 = (text: string): string => Buffer.from(text).toString('base64');

function exchange(a: string, b: string): void {
  renameSync(a, `${a}.aside`);
  renameSync(b, a);
  renameSync(`${a}.aside`, b);
}

/** A box with a second store of another id, with the same key name in both. */
async function twoStores(): Promise<{ box: Sandbox; first: string; second: string }> {
  const box = template().copy();
  const second = box.at('second');
  await box.ok(['init', '--store', second]);
  await box.ok(['transit', 'keys', 'create', 'letters', '--store', second]);
  for (const directory of [box.store, second]) await intoDocuments(directory);
  return { box, first: box.store, second };
}

async function tallied(what: string, check: () => Promise<void>): Promise<void> {
  const tally = new Tally();
  await tally.after(what, check);
  tally.settle();
}

describe('two stores that change places', () => {
  it('are each the store that they were, for the next command', async () => {
    const { box, first, second } = await twoStores();
    const pictures = [await pictureOf(first), await pictureOf(second)];
    exchange(first, second);
    await tallied('exchanged between two commands', async () => {
      expect([await pictureOf(second), await pictureOf(first)]).toEqual(pictures);
      expect([await ailments(first), await ailments(second)]).toEqual([[], []]);
      await box.ok(['transit', 'keys', 'create', 'fresh', '--store', first]);
      expect(await pictureOf(second)).toBe(pictures[0]);
    });
    box.remove();
  });

  it('are not mixed by a process that has one of them open', async () => {
    for (const commits of [0, 20]) {
      const { box, first, second } = await twoStores();
      for (let i = 0; i < commits; i++)
        await box.ok(['transit', 'keys', 'rotate', 'letters', '--store', second]);
      const coffer = await open(first);
      await coffer.transit.encrypt({ name: 'letters', plaintext: base64('x') });
      const pictures = [await pictureOf(first), await pictureOf(second)];
      exchange(first, second);
      await tallied(`exchanged under an open store, the other ${commits} commits ahead`, async () => {
        const refusal = {
          kind: 'unavailable',
          message: `${first} was replaced by another store`,
        };
        await expect(coffer.transit.keys.rotate({ name: 'letters' })).rejects.toMatchObject(refusal);
        await expect(coffer.transit.encrypt({ name: 'upserted', plaintext: '' })).rejects.toMatchObject(
          refusal,
        );
        await expect(coffer.transit.keys.list()).rejects.toMatchObject(refusal);
        expect([await pictureOf(second), await pictureOf(first)]).toEqual(pictures);
        expect([await ailments(first), await ailments(second)]).toEqual([[], []]);
        exchange(first, second);
        await coffer.transit.keys.rotate({ name: 'letters' });
        expect(await ailments(first)).toEqual([]);
      });
      coffer.close();
      box.remove();
    }
  });
});

const newestFile = (directory: string): string =>
  readdirSync(join(directory, 'log'))
    .filter((name) => /^\d+$/.test(name))
    .at(-1) ?? '';

describe('a part of a store in the place of that of another', () => {
  const parts = (directory: string): readonly string[] => [
    'coffer.json',
    'state',
    'log',
    `log/${newestFile(directory)}`,
    'generation-1',
    'generation-1/documents',
    'generation-1/slots',
    ...readdirSync(join(directory, 'generation-1', 'documents')).map(
      (name) => `generation-1/documents/${name}`,
    ),
  ];

  it('is noticed, said by name where it is one document, and does no harm once it is put back', async () => {
    const { box, first, second } = await twoStores();
    const before = await pictureOf(first);
    const foreign = join(
      second,
      'generation-1',
      'documents',
      readdirSync(join(second, 'generation-1', 'documents'))[0] ?? '',
    );
    const tally = new Tally();
    for (const part of parts(first)) {
      const mine = join(first, part);
      const other = part.startsWith('log/') ? `log/${newestFile(second)}` : part;
      const theirs = part.startsWith('generation-1/documents/') ? foreign : join(second, other);
      exchange(mine, theirs);
      await tally.after(part, async () => {
        const doctor = await box.run(['doctor']);
        const isDocument = theirs === foreign;
        if (part !== 'state') expect(doctor.exitCode).not.toBe(0);
        expect(doctor.stderr + doctor.stdout).not.toContain('unexpected');
        if (isDocument)
          expect(await ailments(first)).toEqual([expect.stringContaining(`${mine}: is damaged`)]);
        for (const line of ['transit keys list', 'transit keys read letters', 'tags list', 'slots list']) {
          const { exitCode, stderr } = await box.run(line.split(' '));
          if (exitCode !== 0) expect(stderr).toMatch(/^coffer: (?!unexpected)[^\n]+\n$/);
        }
      });
      exchange(mine, theirs);
      await tally.after(`${part}, put back`, async () => {
        expect(await pictureOf(first)).toBe(before);
        expect(await ailments(first)).toEqual([]);
      });
    }
    tally.settle();
    box.remove();
  });

  it('leaves the other documents readable and writable', async () => {
    const { box, first } = await twoStores();
    const names = readdirSync(join(first, 'generation-1', 'documents'));
    const tally = new Tally();
    let readable = 0;
    for (const name of names) {
      const path = join(first, 'generation-1', 'documents', name);
      const bytes = readFileSync(path);
      writeFileSync(
        path,
        readFileSync(join(first, 'generation-1', 'documents', names.find((other) => other !== name) ?? '')),
      );
      await tally.after(name, async () => {
        const answer = await box.run([
          'transit',
          'decrypt',
          'letters',
          readFileSync(box.at('ciphertext'), 'utf8'),
        ]);
        if (answer.exitCode === 0) {
          expect(answer.stdout).toBe('a small secret');
          readable++;
        } else expect(answer.stderr).toContain(`${path} is damaged`);
      });
      writeFileSync(path, bytes);
    }
    tally.settle();
    // It takes the key, its mount and its index at most.
    expect(readable).toBeGreaterThan(names.length / 2);
    box.remove();
  });
});

describe('a backup put in the place of a store', () => {
  it('is refused by a process that has the store open until it is accepted, even where the revisions have come to be the same', async () => {
    const tally = new Tally();
    for (const others of [0, 1, 2, 3, 4]) {
      const box = template().copy();
      const coffer = await open(box.store);
      await box.ok(['store', 'backup', box.at('now')]);
      // What is known of the keys after three commits is in the caches of the open store, and lost.
      for (let i = 0; i < 3; i++) await coffer.transit.keys.rotate({ name: 'letters' });
      rmSync(box.store, { recursive: true });
      await box.ok(['store', 'restore', box.at('now')]);
      for (let i = 0; i < others; i++) await box.ok(['orgs', 'create', `org-${i}`]);
      await tally.after(`with ${others} commits made since`, async () => {
        const picture = await pictureOf(box.store);
        const refusal = {
          kind: 'unavailable',
          message: expect.stringMatching(
            others < 3 ? / was rolled back from / : / was replaced by another copy/,
          ),
        };
        await expect(coffer.transit.keys.read({ name: 'letters' })).rejects.toMatchObject(refusal);
        await expect(coffer.transit.keys.rotate({ name: 'letters' })).rejects.toMatchObject(refusal);
        expect(await pictureOf(box.store)).toBe(picture);
        await box.ok(['store', 'accept', '--yes']);
        expect(await coffer.transit.keys.read({ name: 'letters' })).toMatchObject({ latest_version: 2 });
        await coffer.transit.keys.rotate({ name: 'letters' });
        expect(await coffer.transit.keys.read({ name: 'letters' })).toMatchObject({ latest_version: 3 });
        expect(JSON.parse(await box.ok(['orgs', 'list', '-o', 'json'])).data).toHaveLength(1 + others);
        expect(await ailments(box.store)).toEqual([]);
      });
      coffer.close();
      box.remove();
    }
    tally.settle();
  });
});
