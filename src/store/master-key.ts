import { decodeBase64, encodeBase64 } from '../base64.ts';
import { wipe } from '../bytes.ts';
import { invalid } from '../errors.ts';
import { type Random, systemRandom } from '../random.ts';

export const MASTER_KEY_BYTES = 32;
const HEX_KEY = /^[0-9a-fA-F]{64}$/;
const BASE64_KEY = /^[A-Za-z0-9+/]{43}=$/;

/** A fresh 256-bit master key as base64 text, for `COFFER_MASTER_KEY` or a key file. */
export function generateMasterKey(random: Random = systemRandom): string {
  const key = random.bytes(MASTER_KEY_BYTES);
  const text = encodeBase64(key);
  wipe(key);
  return text;
}

/**
 * The 32 bytes of a master key given as text: base64 with padding, or hexadecimal; white space around it is ignored.
 * @param source how the message calls the place the text came from.
 * @throws `invalid` for anything else. The text is never repeated in the message.
 */
export function parseMasterKey(text: string, source = 'the master key'): Buffer {
  const key = tryParseMasterKey(text);
  if (key !== undefined) return key;
  throw invalid(`${source} must be 32 bytes in base64 or hex`, {
    hint: 'make one with "coffer keygen"',
  });
}

/** As `parseMasterKey`, but undefined when the text is no master key. */
export function tryParseMasterKey(text: string): Buffer | undefined {
  const trimmed = text.trim();
  if (HEX_KEY.test(trimmed)) return Buffer.from(trimmed, 'hex');
  if (BASE64_KEY.test(trimmed)) return decodeBase64(trimmed);
  return undefined;
}
