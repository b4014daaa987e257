import { type OptionSpec, taking } from '../command.ts';

/**
 * Options of commands that Vault has too, with its names and values.
 * @see docs/decisions/0322
 */

export const FIELD = 'field';
export const fieldOption = taking(FIELD, 'NAME', 'Print only this field of the result.');

export const FORMAT = 'format';
export const JSON_FORMAT = 'json';

const formatWith = (help: string): OptionSpec =>
  taking(FORMAT, 'FORMAT', help, { choices: [JSON_FORMAT, 'table', 'raw', 'wide'], excludes: ['output'] });

/** Option of commands for any path. */
export const formatOption = formatWith(
  'Like --output, but json prints the whole response as Vault does, with the result in its member "data".',
);

/** Option of the command that lists names. */
export const listFormatOption = formatWith(
  'Like --output, but json prints only an array of the names, as Vault does.',
);

/** Option of commands whose result is in the members `auth` or `data`. */
export const tokenFormatOption = formatWith(
  'Like --output, but json prints the whole response as Vault does, with the result in its member "auth" or "data".',
);

/** Makes a command use the caller's own token. */
export const SELF = 'self';
