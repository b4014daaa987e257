import { DEFAULT_MOUNT, isMountPath } from '../mounts/paths.ts';

/**
 * Encrypted value in a file: `coffer:KEY:vN:BASE64`, or `coffer:MOUNT/KEY:vN:BASE64` for another mount than `transit`.
 * The part after the version is that of a transit ciphertext, so `vault:vN:BASE64` can be decrypted by any server with
 * the key. Names of keys and mounts contain no separator characters, and it needs no quotes in a `.env` file or a YAML
 * block.
 */
export interface SealedValue {
  readonly mount: string;
  readonly key: string;
  /** Key version; counts from 1. */
  readonly version: number;
  /** Base64 as read: whether it is complete shows only when it is decrypted. */
  readonly payload: string;
}

const FORM = /^coffer:(?:([\w./-]+)\/)?([\w.-]+):v([1-9]\d{0,8}):([A-Za-z0-9+/=]*)$/;
const ANYWHERE = /coffer:[\w./-]+:v[1-9]\d{0,8}:[A-Za-z0-9+/=]*/g;

/**
 * Parses a value.
 * @returns undefined if the text is not an encrypted value. A value whose last part was truncated is still parsed, and
 * decrypting it fails.
 */
export function parseValue(text: string): SealedValue | undefined {
  const [, mount = DEFAULT_MOUNT, key, version, payload] = FORM.exec(text) ?? [];
  if (key === undefined || version === undefined || payload === undefined || !isMountPath(mount))
    return undefined;
  return { mount, key, version: Number(version), payload };
}

export const formatValue = ({ mount, key, version, payload }: SealedValue): string =>
  `coffer:${mount === DEFAULT_MOUNT ? '' : `${mount}/`}${key}:v${version}:${payload}`;

/** Length of the shortest ciphertext in base64: a nonce of 12 bytes and a tag of 16. */
const LEAST_CHARACTERS = 40;

/** Whether the end of a value is missing, as far as its length shows. */
export const isCut = ({ payload }: SealedValue): boolean =>
  payload.length % 4 !== 0 || payload.length < LEAST_CHARACTERS;

/** Beginning that only encrypted values have: the key, and the version as far as it is there. */
const BEGINNING = /^coffer:[\w./-]+:(?:$|v$|v\d+(?:$|:))/;

/** Whether a text is what is left of an encrypted value that was cut or altered. */
export const looksDamaged = (text: string): boolean => BEGINNING.test(text) && parseValue(text) === undefined;

/** Finds the encrypted values in any text. */
export function* valuesIn(text: string) {
  if (!text.includes('coffer:')) return;
  for (const { index, 0: found } of text.matchAll(ANYWHERE)) {
    const value = parseValue(found);
    if (value !== undefined) yield { start: index, end: index + found.length, value };
  }
}
