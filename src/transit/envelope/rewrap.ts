import { readHeader, requireName } from './envelope.ts';
import { type DataKeys, type RewritableFile, sequential } from './ports.ts';
import { halfOf, keyVersionOf, printWrappedKey } from './wrapped-keys.ts';

/**
 * Moves an envelope to the latest version of its named key by rewriting a part of its header in place, whatever its size.
 * Neither the data key nor the data are seen, so nothing of the file is authenticated by it. The new wrapped key goes to
 * the spare half, and the old one is erased once the new one is on disk: a process killed in between leaves a file that
 * opens. It also repairs a header whose rewriting a loss of power has cut short.
 * @throws `corrupt` when it is no envelope, `inauthentic` when it is damaged, `unsupported` when the new wrapped key is too long for its half, and whatever
 * the named key answers; the file is then unchanged.
 * @param name The named key that the caller expects; any without it.
 * @returns versions of the named key; undefined for a ciphertext of an unknown form.
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
