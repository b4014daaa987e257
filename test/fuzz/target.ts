import type { Chance } from '../chance.ts';
import type { Secrets } from './secrets.ts';

/** Something of the product that takes what comes from outside. */
export interface Target<I = unknown> {
  readonly name: string;
  /** Cases for each seed of a run of the usual size. */
  readonly cases: number;
  /** After so many cases everything is made anew; without it, one world serves them all. */
  readonly casesPerWorld?: number;
  open(chance: Chance, secrets: Secrets): Promise<World<I>>;
}

/** What the cases of a target meet: a store with content, a server, a file. */
export interface World<I = unknown> {
  generate(chance: Chance): I;
  /** @throws anything when the product did what it must not do. */
  check(input: I): Promise<void> | void;
  /** The input so that somebody else can repeat it. */
  print(input: I): string;
  /** Simpler inputs that may fail as well. */
  simpler?(input: I): Iterable<I>;
  /** Looks at what all cases together did, and takes everything down. */
  close(): Promise<void> | void;
}

/** The product broke a promise. */
export class Defect extends Error {}

/** Hides the type of a target's inputs, which only its own world knows. */
export const target = <I>(made: Target<I>): Target => made as Target;
