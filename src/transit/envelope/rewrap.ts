import { halfOf, keyVersionOf, printWrappedKey, readHeader, requireName } from './envelope.ts';
import { type DataKeys, type RewritableFile, sequential } from './ports.ts';

/**
 * Rewraps an envelope to the latest version of its named key by rewriting a part of its header in place, whatever its
 * size. Neither the data key nor the data is revealed, so nothing in the file is authenticated. The new wrapped key
 * goes into the spare half, and the old one is erased once the new one is on disk: if the process is killed in between,
 * the file still opens. Also repairs a header whose rewrite was interrupted by a power failure.
 * @param name named key that the caller expects; undefined for any
 * @returns versions of the named key; undefined for a ciphertext of an unknown form
 * @throws `corrupt` if it is not an envelope; `inauthentic` if it is damaged; `unsupported` if the new wrapped key is
 * too long for its half; and any error of the named key; the file is unchanged then
 */
export async function rewrapEnvelope({
  keys,
  file,
  name,
}: {
  readonly keys: DataKeys;
  readonly file: RewritableFile;
  readonly name?: string | undefined;
}) {
  const header = await readHeader(sequential(file));
  requireName(header, name);
  const { wrappedKeyBytes } = header.sealed;
  const { current } = header.wrapped;
  const ciphertext = await keys.rewrap(header.sealed, current.ciphertext);
  const next = { generation: current.generation + 1, ciphertext };
  const positionOf = (generation: number): number => header.halves + halfOf(generation) * wrappedKeyBytes;
  await file.writeAt(positionOf(next.generation), printWrappedKey(next, wrappedKeyBytes));
  await file.flush();
  await file.writeAt(positionOf(current.generation), Buffer.alloc(wrappedKeyBytes));
  await file.flush();
  return { from: keyVersionOf(current.ciphertext), to: keyVersionOf(ciphertext) };
}
