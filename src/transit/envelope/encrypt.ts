import type { Random } from '../../ground/random.ts';
import { encryption } from './chunk-cipher.ts';
import { deriveFileKeys, keyVersionOf, printWrappedKey, wrappedKeyBytesFor } from './envelope.ts';
import { DEFAULT_CHUNK_BYTES, printSealedHeader, SALT_BYTES, type SealedHeader } from './header.ts';
import type { ByteSink, ByteSource, DataKeys, KeyReference, OnProgress } from './ports.ts';
import { pump } from './pump.ts';

interface Encryption {
  readonly key: KeyReference;
  readonly keys: DataKeys;
  readonly random: Random;
  readonly source: ByteSource;
  readonly sink: ByteSink;
  /** Metadata: authenticated, not encrypted. Texts without control characters. */
  readonly metadata?: Readonly<Record<string, string>>;
  readonly onProgress?: OnProgress;
}

/**
 * Encrypts a stream of any length into an envelope, under a new data key that the named key wraps.
 * @returns the version of the named key that was used
 * @throws `invalid` if the metadata cannot be stored, and any error of the named key; nothing is written then
 */
export async function encryptEnvelope(request: Encryption): Promise<{ keyVersion: number | undefined }> {
  const { key, keys, random, source, sink, metadata = {}, onProgress } = request;
  const dataKey = await keys.create(key);
  const { wrapped } = dataKey;
  const header: SealedHeader = {
    ...key,
    chunkBytes: DEFAULT_CHUNK_BYTES,
    wrappedKeyBytes: wrappedKeyBytesFor(wrapped),
    salt: random.bytes(SALT_BYTES),
    metadata,
  };
  const sealed = printSealedHeader(header);
  const fileKeys = deriveFileKeys(dataKey.plaintext, header.salt, sealed);
  const first = printWrappedKey({ generation: 1, ciphertext: wrapped }, header.wrappedKeyBytes);
  const spare = Buffer.alloc(header.wrappedKeyBytes);
  await sink.write(Buffer.concat([sealed, fileKeys.mac, first, spare]));
  await pump(source, sink, encryption(fileKeys.payload, header.chunkBytes), onProgress);
  return { keyVersion: keyVersionOf(wrapped) };
}
