const PAGE_BYTES = 4096;
/** What glibc keeps before each piece of memory. */
const MALLOC_HEAD_BYTES = 16;
/** From here on glibc asks the kernel for pages of its own. */
const MAPPED_BYTES = 128 * 1024;

/**
 * Memory for much data, not cleared, that begins where a page does, as far as that can be had: a large piece from glibc begins 16 bytes
 * later. On AMD's current processors the kernel and the C library take up to fifteen times as long to copy from the start of a page to
 * there; elsewhere it makes no difference.
 * @see docs/decisions/0261
 */
export function alignedBuffer(bytes: number): Buffer {
  if (bytes < MAPPED_BYTES) return Buffer.allocUnsafeSlow(bytes);
  const before = PAGE_BYTES - MALLOC_HEAD_BYTES;
  return Buffer.allocUnsafeSlow(before + bytes).subarray(before);
}

/** The next number of bytes that fills whole pages. */
export const wholePages = (bytes: number): number => Math.ceil(bytes / PAGE_BYTES) * PAGE_BYTES;
