import { type Catalogue, catalogue, type Branch, type Entry, isEntry } from './operations/catalogue.ts';
import { openCore } from './operations/core.ts';
import { type Operation, owner } from './operations/operation.ts';
import { type InputOf, type Params, parseValues } from './operations/params.ts';
import { DEFAULT_MOUNT } from './transit/mounts.ts';

export { CofferError, type ErrorKind } from './errors.ts';

type Camel<Word extends string> = Word extends `${infer Head}-${infer Tail}`
  ? `${Head}${Capitalize<Camel<Tail>>}`
  : Word;

type Call<P extends Params, D> =
  Record<string, never> extends InputOf<P>
    ? (input?: InputOf<P> & WhichMount) => Promise<D>
    : (input: InputOf<P> & WhichMount) => Promise<D>;

interface WhichMount {
  /** The transit mount, without slashes at the ends; default `transit`. */
  readonly mount?: string;
}

/** The catalogue as functions: `catalogue.transit.keys.create` becomes `transit.keys.create(input)`. */
export type Functions<B> = {
  readonly [Word in keyof B as Word extends string ? Camel<Word> : never]: B[Word] extends Entry<
    Operation<infer P, infer D>
  >
    ? Call<P, D>
    : B[Word] extends Branch
      ? Functions<B[Word]>
      : never;
};

/**
 * An opened store: a function for every operation, with the parameters of the HTTP API (`min_decryption_version`, base64
 * where the API has base64), answering its `data` (the whole document for tags, undefined where
 * the API answers 204). Errors are `CofferError`s. The caller is the owner: no token is needed.
 */
export type Coffer = Functions<Catalogue> & {
  /** Forgets the root key; every later call throws `sealed`. */
  close(): void;
};
