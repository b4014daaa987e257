import { ownWords, unsupported } from '../../ground/errors.ts';
import { isObject } from '../../ground/objects.ts';
import { declare, hidden, type Param } from './params.ts';

/**
 * Whether a value is off, zero or empty, also as text: values that clients send for a setting that the user did not
 * set.
 */
function asksForNothing(value: unknown): boolean {
  if (Array.isArray(value)) return value.length === 0;
  if (isObject(value)) return Object.keys(value).length === 0;
  return value === null || NOTHING.has(String(value));
}

const NOTHING: ReadonlySet<string> = new Set(['', '0', '0s', 'false']);

/**
 * Declares a parameter for a feature that this server does not have.
 * @param why completes "… can't be set: "
 * @param usual other values that request nothing, such as Vault's default
 * @throws `unsupported` if it requests something
 * @see docs/decisions/0278
 */
export const lacking = (help: string, why: string, usual: readonly unknown[] = []) =>
  refusing(help, why, (value) => asksForNothing(value) || usual.includes(value));

/** As `lacking`, for a setting that zero and empty values also request something of: `ttl` 0 would end at once. */
export const lackingAtAll = (help: string, why: string, usual: readonly unknown[] = []) =>
  refusing(help, why, (value) => value === null || usual.includes(value));

const refusing = (help: string, why: string, isNothing: (value: unknown) => boolean) =>
  declare<undefined, ReturnType<typeof hidden>>(hidden(help), {}, (value, field) => {
    if (isNothing(value)) return undefined;
    const text = `${field} cannot be set: ${why}`;
    throw unsupported(/^[a-z_]+$/.test(field) ? ownWords(text) : text, { field });
  }) satisfies Param<undefined>;
