import { utf8 } from '../../../ground/bytes.ts';
import { invalid } from '../../../ground/errors.ts';
import { parseBech32, printBech32 } from '../../../transit/key-types/age/bech32.ts';

/** Encoding of key names in identity files and lists of recipients (C2SP, age-plugin.md): Bech32 of `mount/key`. */

const RECIPIENT_PREFIX = 'age1coffer';
const IDENTITY_PREFIX = 'age-plugin-coffer-';

/** Named key of the store. */
export interface KeyName {
  readonly mount: string;
  readonly key: string;
}

export const pluginRecipient = ({ mount, key }: KeyName): string =>
  printBech32(RECIPIENT_PREFIX, utf8(`${mount}/${key}`));

export const pluginIdentity = ({ mount, key }: KeyName): string =>
  printBech32(IDENTITY_PREFIX, utf8(`${mount}/${key}`)).toUpperCase();

/**
 * Parses a recipient.
 * @throws `invalid` if it is malformed
 */
export const parsePluginRecipient = (text: string): KeyName => required(nameIn(text, RECIPIENT_PREFIX));

/**
 * Parses an identity; undefined for the one that age creates for `-j coffer`: any offered key.
 * @throws `invalid`
 */
export const parsePluginIdentity = (text: string): KeyName | undefined => nameIn(text, IDENTITY_PREFIX);

function nameIn(text: string, wanted: string): KeyName | undefined {
  const { prefix, bytes } = parseBech32(text);
  if (prefix !== wanted) throw noKey();
  if (bytes.length === 0) return undefined;
  const name = bytes.toString('utf8');
  const slash = name.lastIndexOf('/');
  if (slash < 1 || slash === name.length - 1) throw noKey();
  return { mount: name.slice(0, slash), key: name.slice(slash + 1) };
}

function required(name: KeyName | undefined): KeyName {
  if (name === undefined) throw noKey();
  return name;
}

const noKey = () => invalid('not the recipient or identity of a Coffer key');
