import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { CofferError } from '../../src/ground/errors.ts';
import { examineStore } from '../../src/store/administration/repair.ts';
import { openStore } from '../../src/store/open.ts';
import type { SealedStore } from '../../src/store/sealed/sealed-store.ts';
import type { Credential } from '../../src/store/slots/unlock.ts';
import { MASTER_KEY } from './sandbox.ts';

const credentials: readonly Credential[] = [
  { kind: 'raw', source: 'the test key', reveal: () => Buffer.from(MASTER_KEY, 'base64') },
];

export const NO_STORE = 'no store';

/**
 * Everything that a store says, opened: each document, each index, the slots, the generation. Two pictures are the same text
 * when no reader could tell the stores apart.
 */
export async function pictureOf(directory: string): Promise<string> {
  let store: SealedStore;
  try {
    store = await openStore({ location: directory, credentials });
  } catch (error) {
    if (error instanceof CofferError && error.kind === 'not-found') return NO_STORE;
    throw error;
  }
  try {
    // With what a killed writer left, as every command sees it.
    const view = store.backend;
    const { generation } = await view.state();
    const root = await store.keyring.root(view, generation);
    const files: Record<string, string> = {};
    for (const name of await view.names(generation, 'documents')) {
      const ref = { area: 'documents', name } as const;
      const bytes = await view.read(generation, ref);
      if (bytes === undefined) throw new Error(`${name} vanished`);
      const { identity, json } = root.open(ref, bytes, { file: name });
      files[`${identity.space} ${identity.collection} ${identity.id}`] =
        identity.space === 'slots' ? plainSlots(json) : json;
    }
    const slots = (await view.names(generation, 'slots')).sort();
    return JSON.stringify({ generation, slots, files: Object.entries(files).sort() }, undefined, 1);
  } finally {
    store.close();
  }
}

/** The list of slots without the keys in it, which are another chance's than that of the fixed world. */
const plainSlots = (json: string): string =>
  JSON.stringify(
    (JSON.parse(json) as { slots: object[] }).slots.map((slot) => ({
      ...slot,
      publicKey: '',
      pairingKey: '',
    })),
  );

/** What `doctor` finds wrong with a store, in words; nothing for a place without one. */
export async function ailments(directory: string): Promise<readonly string[]> {
  try {
    const { findings, unlocked } = await examineStore({ location: directory, credentials });
    return unlocked ? findings.map(({ file, reason }) => `${file}: ${reason}`) : ['it stays locked'];
  } catch (error) {
    if (error instanceof CofferError && error.kind === 'not-found') return [];
    throw error;
  }
}

/** Names in a settled store's directories that no reader ever looks at: what a fault left, and nobody cleared away. */
export function leftovers(directory: string): readonly string[] {
  const state = readdirSync(join(directory, 'state'));
  const [generation = ''] = state[0]?.match(/(?<=^log-)\d+/) ?? [];
  const expected = new Set(['coffer.json', 'lock', 'log', 'state', `generation-${generation}`]);
  const strange = readdirSync(directory).filter((name) => !expected.has(name));
  const log = readdirSync(join(directory, 'log'));
  // One name says which file is the first that is needed; a second one is never needed.
  const firsts = log.filter((name) => /^first-[1-9]\d*$/.test(name)).slice(0, 1);
  strange.push(...log.filter((name) => !/^([1-9]\d*|lock|spare)$/.test(name) && !firsts.includes(name)));
  return [...strange, ...(state.length === 1 ? [] : state)];
}

/** A file's content, told apart by its hash; `absent` when there is none. */
export function fileAt(path: string): string {
  if (!existsSync(path)) return 'absent';
  return createHash('sha256').update(readFileSync(path)).digest('hex');
}
