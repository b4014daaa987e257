import { unsupported } from '../../ground/errors.ts';
import { isObject } from '../../ground/objects.ts';
import { ownWords } from '../../ground/own-words.ts';
import { declare, type Param } from './params.ts';

/** Off, zero and empty, also as texts: what clients send of a setting that nobody made. */
export function asksForNothing(value: unknown): boolean {
  if (Array.isArray(value)) return value.length === 0;
  if (isObject(value)) return Object.keys(value).length === 0;
  return value === null || NOTHING.has(String(value));
}

const NOTHING: ReadonlySet<string> = new Set(['', '0', '0s', 'false']);

/**
 * A member that only means something where there is what this server does not have.
 * @param why Completes "… can't be set: ".
 * @param usual Other values that ask for nothing, such as the default of peers.
 * @throws `unsupported` unless it asks for nothing.
 * @see docs/decisions/0278
 */
export const lacking = (help: string, why: string, usual: readonly unknown[] = []) =>
  declare<undefined, { readonly help: string; readonly cli: { readonly hidden: true } }>(
    { help, cli: { hidden: true } },
    {},
    (value, field) => {
      if (asksForNothing(value) || usual.includes(value)) return undefined;
      const text = `${field} can't be set: ${why}`;
      throw unsupported(/^[a-z_]+$/.test(field) ? ownWords(text) : text, { field });
    },
  ) satisfies Param<undefined>;
