import type { Blob, BlobRef } from '../backend.ts';
import type { PostgresClient } from './connection.ts';

/** Blobs that are sent together. */
export type BlobBatch = readonly Blob[];

const BATCH_BLOBS = 500;
const BATCH_BYTES = 4 * 1024 * 1024;

/** Groups blobs into batches that are bounded in number and, except for a single large blob, in bytes. */
export async function* inBatches(blobs: AsyncIterable<Blob>): AsyncGenerator<BlobBatch> {
  let batch: Blob[] = [];
  let bytes = 0;
  for await (const blob of blobs) {
    batch.push(blob);
    bytes += blob.bytes.length;
    if (batch.length < BATCH_BLOBS && bytes < BATCH_BYTES) continue;
    yield batch;
    batch = [];
    bytes = 0;
  }
  if (batch.length > 0) yield batch;
}

/** Inserts blobs; existing rows get the new content. */
export async function insertBlobs(
  client: PostgresClient,
  schema: string,
  generation: number,
  batch: BlobBatch,
): Promise<void> {
  await client.query({
    name: 'insert blobs',
    text: `INSERT INTO ${schema}.blob (generation, area, name, bytes)
      SELECT $1, w.area, w.name, w.bytes FROM unnest($2::text[], $3::text[], $4::bytea[]) AS w (area, name, bytes)
      ON CONFLICT (generation, area, name) DO UPDATE SET bytes = excluded.bytes`,
    values: [
      generation,
      batch.map(({ ref }) => ref.area),
      batch.map(({ ref }) => ref.name),
      batch.map(({ bytes }) => bytea(bytes)),
    ],
  });
}

/** Wraps bytes in the type that the library sends, without copying. */
export const bytea = ({ buffer, byteOffset, byteLength }: Uint8Array): Buffer =>
  Buffer.from(buffer, byteOffset, byteLength);

/** Whether a name has the form of our blob names. */
export const isBlobName = (name: string): boolean => /^[0-9a-f]{1,64}$/.test(name);

export const printRef = ({ area, name }: BlobRef): string => `${area}/${name}`;
