import { utf8 } from '../../../ground/bytes.ts';
import { invalid } from '../../../ground/errors.ts';
import { parseBech32, printBech32 } from '../../../transit/key-types/age/bech32.ts';

/** How keys of the store are called in identity files and lists of recipients (C2SP, age-plugin.md): Bech32 of `mount/key`. */

const RECIPIENT_PREFIX = 'age1coffer';
const IDENTITY_PREFIX = 'age-plugin-coffer-';

/** A key of the store. */
export interface KeyName {
  readonly mount: string;
  readonly key: string;
}

export const pluginRecipient = ({ mount, key }: KeyName): string =>
  printBech32(RECIPIENT_PREFIX, utf8(`${mount}/${key}`));

export const pluginIdentity = ({ mount, key }: KeyName): string =>
  printBech32(IDENTITY_PREFIX, utf8(`${mount}/${key}`)).toUpperCase();

/** @throws `invalid` for what names no key. */
export const parsePluginRecipient = (text: string): KeyName => required(nameIn(text, RECIPIENT_PREFIX));

/** Undefined for the identity that age makes of `-j coffer`: any key that is offered. @throws `invalid` */
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

const noKey = () => invalid('this names no key of a store');
