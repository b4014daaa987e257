import { createHash } from 'node:crypto';
import type { Backend } from '../../src/store/backends/backend.ts';
import type { SealedStore } from '../../src/store/sealed/sealed-store.ts';
import { Defect } from './target.ts';

/** A digest of everything that a store holds, and of its revision. */
export async function contentOf(backend: Backend): Promise<string> {
  const state = await backend.state();
  const hash = createHash('sha256')
    .update(JSON.stringify(state))
    .update(await backend.header());
  for (const area of ['slots', 'documents'] as const) {
    for (const name of (await backend.names(state.generation, area)).sort()) {
      hash
        .update(`${area}/${name}:`)
        .update((await backend.read(state.generation, { area, name })) ?? 'gone');
    }
  }
  return hash.digest('hex');
}

/** Notes what a store holds. @returns a function that throws when it holds something else later. */
export async function unchanged(store: SealedStore): Promise<() => Promise<void>> {
  const before = await contentOf(store.backend);
  return async () => {
    if ((await contentOf(store.backend)) !== before)
      throw new Defect('the store was changed by what was refused');
  };
}
