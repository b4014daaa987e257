import { type CatalogueBranch, type CatalogueEntry, isEntry } from '../../src/operations/catalogue-entry.ts';
import type { Operation } from '../../src/operations/declaration/operation.ts';

/** The operations below a branch of the catalogue, each with its words. */
export const leaves = (
  branch: CatalogueBranch,
  words: readonly string[] = [],
): readonly (readonly [string, CatalogueEntry<Operation>])[] =>
  Object.entries(branch).flatMap(([word, node]) =>
    isEntry(node) ? [[[...words, word].join(' '), node] as const] : leaves(node, [...words, word]),
  );
