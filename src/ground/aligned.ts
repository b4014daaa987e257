const PAGE_BYTES = 4096;
/** Size of glibc's header before an allocation, in bytes. */
const MALLOC_HEAD_BYTES = 16;
/** Size in bytes from which glibc maps separate pages. */
const MAPPED_BYTES = 128 * 1024;

/**
 * Allocates a large uninitialized buffer at a page boundary, if possible: a large allocation of glibc begins 16 bytes
 * after one. On AMD's current processors the kernel and the C library take up to fifteen times as long to copy from a
 * page boundary to there; elsewhere it makes no difference.
 * @see docs/decisions/0261
 */
export function alignedBuffer(bytes: number): Buffer {
  if (bytes < MAPPED_BYTES) return Buffer.allocUnsafeSlow(bytes);
  const before = PAGE_BYTES - MALLOC_HEAD_BYTES;
  return Buffer.allocUnsafeSlow(before + bytes).subarray(before);
}

/** Rounds up to whole pages. */
export const wholePages = (bytes: number): number => Math.ceil(bytes / PAGE_BYTES) * PAGE_BYTES;
