import { randomFillSync } from 'node:crypto';

/** Source of randomness; replaced in tests. */
export interface Random {
  /** Returns `size` random bytes that the caller owns (and may overwrite). */
  bytes(size: number): Buffer;
}

const POOL_BYTES = 4096;
const POOLED_MAX_BYTES = 64;
let pool = Buffer.alloc(0);
let used = 0;

/**
 * The operating system's generator via OpenSSL. Short values (nonces) are taken from a pool: a call into OpenSSL costs
 * a microsecond, which matters in batches. Returned bytes are erased from the pool, and no byte is returned twice.
 */
export const systemRandom: Random = {
  bytes(size: number): Buffer {
    if (size > POOLED_MAX_BYTES) return randomFillSync(Buffer.alloc(size));
    if (used + size > pool.length) {
      pool = randomFillSync(Buffer.alloc(POOL_BYTES));
      used = 0;
    }
    const slice = pool.subarray(used, used + size);
    const out = Buffer.from(slice);
    slice.fill(0);
    used += size;
    return out;
  },
};

/** Formats 16 bytes as a random (version 4) UUID, RFC 9562. */
export function uuidFrom(bytes: Uint8Array): string {
  const copy = Buffer.from(bytes);
  copy.writeUInt8((copy.readUInt8(6) & 0x0f) | 0x40, 6);
  copy.writeUInt8((copy.readUInt8(8) & 0x3f) | 0x80, 8);
  const hex = copy.toString('hex');
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-');
}
