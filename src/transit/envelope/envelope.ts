/**
 * Envelopes: files of any length, each under a data key that a named key wraps (docs/envelope-format.md).
 * @see docs/decisions/0080
 */

import { type CofferError, denied } from '../../ground/errors.ts';
import {
  ALGORITHM_NAME,
  FORMAT_VERSION,
  type HeaderLayout,
  MAC_BYTES,
  PREFIX_BYTES,
  parsePrefix,
  parseSealedHeader,
} from './header.ts';
import { readExactly } from './lookahead.ts';
import type { ByteSource, DataKeys } from './ports.ts';
import { damaged } from './refusals.ts';
import { type FileKeys, keyVersionOf, openFileKeys, parseWrappedKeys } from './wrapped-keys.ts';

/** Description of a header, for output. */
export type EnvelopeDescription = ReturnType<typeof describe>;

export const describe = ({ sealed, wrapped }: EnvelopeHeader) => ({
  format: FORMAT_VERSION,
  algorithm: ALGORITHM_NAME,
  mount: sealed.mount,
  name: sealed.name,
  /** Version of the named key that wraps the data key. */
  keyVersion: keyVersionOf(wrapped.current.ciphertext),
  /** Wrapped data key, a transit ciphertext. */
  wrapped: wrapped.current.ciphertext,
  chunkBytes: sealed.chunkBytes,
  metadata: sealed.metadata,
});

/**
 * Reads a header and nothing after it.
 * @throws `corrupt` or `inauthentic`
 */
export async function readHeader(source: ByteSource): Promise<EnvelopeHeader> {
  const prefix = await readExactly(source, PREFIX_BYTES);
  const layout = parsePrefix(prefix);
  return parseHeader(
    Buffer.concat([prefix, await readExactly(source, layout.payload - PREFIX_BYTES)]),
    layout,
  );
}

/** Parsed header, not authenticated yet. */
type EnvelopeHeader = ReturnType<typeof parseHeader>;

function parseHeader(bytes: Buffer, layout: HeaderLayout) {
  if (bytes.length < layout.payload) throw damaged('it ends within its header');
  const sealedBytes = bytes.subarray(0, layout.mac);
  return {
    sealed: parseSealedHeader(sealedBytes),
    /** Bytes that the MAC covers. */
    sealedBytes,
    mac: bytes.subarray(layout.mac, layout.mac + MAC_BYTES),
    wrapped: parseWrappedKeys(bytes.subarray(layout.halves, layout.payload)),
    halves: layout.halves,
    payload: layout.payload,
  };
}

/**
 * Unwraps the data key and authenticates the header.
 * @param name named key that the caller expects, if any
 * @throws `denied` if the header is not authentic or names another key; `inauthentic` if its spare half is damaged; and
 * any error of the named key
 */
export async function openHeader(header: EnvelopeHeader, keys: DataKeys, name?: string): Promise<FileKeys> {
  requireName(header, name);
  if (!header.wrapped.whole) throw interruptedRewrap();
  const { sealed, sealedBytes, mac } = header;
  const dataKey = await keys.unwrap(sealed, header.wrapped.current.ciphertext);
  return openFileKeys(dataKey, sealed.salt, sealedBytes, mac);
}

/**
 * Checks the key name.
 * @throws `denied` if the header names another key
 */
export function requireName({ sealed }: EnvelopeHeader, name: string | undefined): void {
  if (name === undefined || name === sealed.name) return;
  throw denied(`the envelope is encrypted under key "${sealed.name}", not "${name}"`, {
    hint: 'omit the name to use the one in the header',
  });
}

const interruptedRewrap = (): CofferError =>
  damaged('its header was changed, or a rewrap was interrupted', 'rewrap it to repair the header');
