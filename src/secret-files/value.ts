import { DEFAULT_MOUNT, isMountPath } from '../mounts/paths.ts';

/**
 * An encrypted value as it stands in a file: `coffer:KEY:vN:BASE64`, or `coffer:MOUNT/KEY:vN:BASE64` for another mount than
 * `transit`. After the version comes what transit's own ciphertext has there, so `vault:vN:BASE64` opens it wherever the key is.
 * The names of keys and mounts have none of the characters that separate the parts, and nothing in it needs quoting in a `.env` or a
 * block of YAML.
 */
export interface SealedValue {
  readonly mount: string;
  readonly key: string;
  /** Of the key; counts from 1. */
  readonly version: number;
  /** Base64, as it was read: whether it is whole shows only when it is opened. */
  readonly payload: string;
}

const FORM = /^coffer:(?:([\w./-]+)\/)?([\w.-]+):v([1-9]\d{0,8}):([A-Za-z0-9+/=]*)$/;
const ANYWHERE = /coffer:[\w./-]+:v[1-9]\d{0,8}:[A-Za-z0-9+/=]*/g;

/** @returns undefined for a text that is no encrypted value. One that was cut in its last part is a value, and fails to open. */
export function parseValue(text: string): SealedValue | undefined {
  const [, mount = DEFAULT_MOUNT, key, version, payload] = FORM.exec(text) ?? [];
  if (key === undefined || version === undefined || payload === undefined || !isMountPath(mount))
    return undefined;
  return { mount, key, version: Number(version), payload };
}

export const formatValue = ({ mount, key, version, payload }: SealedValue): string =>
  `coffer:${mount === DEFAULT_MOUNT ? '' : `${mount}/`}${key}:v${version}:${payload}`;

/** An encrypted value in any text, with offsets of UTF-16 units. */
export interface ValueInText {
  readonly start: number;
  readonly end: number;
  readonly value: SealedValue;
}

/** The encrypted values that stand in any text. */
export function* valuesIn(text: string): Generator<ValueInText> {
  if (!text.includes('coffer:')) return;
  for (const { index, 0: found } of text.matchAll(ANYWHERE)) {
    const value = parseValue(found);
    if (value !== undefined) yield { start: index, end: index + found.length, value };
  }
}
