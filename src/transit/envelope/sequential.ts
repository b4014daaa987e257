import type { ByteSource, RandomAccessSource } from './ports.ts';

/** A file, or the part of it between two positions, one read after the other. */
export function sequential(
  file: RandomAccessSource,
  from = 0,
  to: number = Number.POSITIVE_INFINITY,
): ByteSource {
  let position = from;
  return {
    expectedBytes: Math.min(to, file.size) - from,
    async read(into) {
      const bytes = await file.readAt(position, into.subarray(0, Math.max(0, to - position)));
      position += bytes;
      return bytes;
    },
  };
}
