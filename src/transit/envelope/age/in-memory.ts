import { type ByteSink, type ByteSource, Lookahead } from '../ports.ts';
import { type AgeEncryption, decryptAge, encryptAge, readAge } from './file.ts';
import type { Stanza } from './header.ts';
import type { AgeIdentity } from './recipients.ts';

/** Age files in memory, for secrets of a few bytes. */

/**
 * Encrypts bytes.
 * @throws `invalid`
 */
export async function encryptBytes(
  bytes: Uint8Array,
  how: Pick<AgeEncryption, 'recipients' | 'armor' | 'random'>,
): Promise<Buffer> {
  const sink = collecting();
  await encryptAge({ ...how, source: sourceOf(bytes), sink });
  return sink.bytes();
}

/**
 * Decrypts a file with the first identity that matches.
 * @throws `denied` if none matches; `inauthentic`, `corrupt` for a damaged file
 */
export async function decryptBytes(file: Uint8Array, identities: readonly AgeIdentity[]): Promise<Buffer> {
  const sink = collecting();
  await decryptAge(await readAge(new Lookahead(sourceOf(file))), { identities, sink });
  return sink.bytes();
}

/**
 * Returns the recipient stanzas of a file.
 * @throws `inauthentic`, `corrupt` for a damaged file
 */
export const stanzasOf = async (file: Uint8Array): Promise<readonly Stanza[]> =>
  (await readAge(new Lookahead(sourceOf(file)))).header.stanzas;

const sourceOf = (bytes: Uint8Array): ByteSource => {
  let left = bytes;
  return {
    expectedBytes: bytes.length,
    async read(into) {
      const count = Math.min(into.length, left.length);
      into.set(left.subarray(0, count));
      left = left.subarray(count);
      return count;
    },
  };
};

function collecting(): ByteSink & { bytes(): Buffer } {
  const parts: Buffer[] = [];
  return {
    async write(bytes) {
      parts.push(Buffer.from(bytes));
    },
    bytes: () => Buffer.concat(parts),
  };
}
