import { invalid, ownWords } from '../ground/errors.ts';
import type { Random } from '../ground/random.ts';
import { isBinaryFormat } from './hashing.ts';

/** Maximum number of bytes per request, the same as in Vault. */
const MOST_BYTES = 131_072;
const SOURCES = ['platform', 'seal', 'all'];

/**
 * Returns random bytes, encoded.
 * @param source accepted for compatibility; only the platform's is used
 * @throws `invalid`
 */
export function randomBytes(
  { random }: { readonly random: Random },
  { bytes, format, source }: { readonly bytes: number; readonly format: string; readonly source: string },
) {
  if (bytes < 1 || bytes > MOST_BYTES) {
    const message =
      bytes < 1 ? ownWords("'bytes' cannot be less than 1") : ownWords("'bytes' should be less than 131072");
    throw invalid(message, { field: 'bytes', hint: `use 1 to ${MOST_BYTES}` });
  }
  if (!isBinaryFormat(format)) {
    throw invalid(`unsupported encoding format "${format}"; must be "hex" or "base64"`, {
      field: 'format',
      hint: 'use hex or base64',
    });
  }
  if (!SOURCES.includes(source)) {
    throw invalid(`unsupported entropy source "${source}"; must be "platform" or "seal", or "all"`, {
      field: 'source',
      hint: 'omit the source',
    });
  }
  const warnings =
    source === 'seal' ? ['no seal/entropy augmentation available, using platform entropy source'] : [];
  return { text: random.bytes(bytes).toString(format), warnings };
}
