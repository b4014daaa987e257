/** Entries of the catalogue of operations: how each is listed and loaded. */

import type { Operation } from './declaration/operation.ts';

/** Catalogue entry: enough to print help and to find the operation; its declaration is loaded on demand. */
export interface CatalogueEntry<O> {
  readonly summary: string;
  /** Whether it is offered as a command. */
  readonly command: boolean;
  /** The path must be literal, because bundlers only find those. */
  readonly load: () => Promise<{ readonly declaration: O }>;
}

export interface CatalogueBranch {
  readonly [word: string]: CatalogueEntry<Operation> | CatalogueBranch;
}

const entryThat =
  (command: boolean) =>
  <O>(summary: string, load: CatalogueEntry<O>['load']): CatalogueEntry<O> => ({ summary, command, load });

/** Entry of an operation that is a command, and that the HTTP API and the library have. */
export const entry = entryThat(true);
/** Entry of an operation that only the HTTP API and the library have. */
export const served = entryThat(false);

/** Loads one operation by its name from a module that declares several. */
export const from =
  <M>(load: () => Promise<M>) =>
  <Name extends keyof M>(name: Name) =>
  async (): Promise<{ readonly declaration: M[Name] }> => ({ declaration: (await load())[name] });

export const isEntry = (
  node: CatalogueEntry<Operation> | CatalogueBranch,
): node is CatalogueEntry<Operation> => typeof node['load'] === 'function';
