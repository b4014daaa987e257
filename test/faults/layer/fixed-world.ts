import crypto, { createCipheriv } from 'node:crypto';
import { syncBuiltinESMExports } from 'node:module';

/** When the store of the tests was made: 2026-03-01T12:00:00Z. */
export const THEN = Date.UTC(2026, 2, 1, 12);

/** Chance and time as they are to be for a process: the same in each run, so that what it writes is the same, too. */
export interface World {
  readonly seed: number;
  /** Milliseconds since 1970; what a clock shows at each look: the first, the second, …, and the last ever after. */
  readonly clock: readonly number[];
}

export const usualWorld: World = { seed: 1, clock: [THEN] };

type Fill = typeof crypto.randomFillSync;

/** Puts the process into a world. @returns how to get back. */
export function enter({ seed, clock }: World): () => void {
  const { randomFillSync, randomBytes, randomUUID } = crypto;
  const { now } = Date;
  const draw = chance(seed);
  const fill = (target: Uint8Array): Uint8Array => {
    target.set(draw(target.length));
    return target;
  };
  let looks = 0;
  crypto.randomFillSync = fill as unknown as Fill;
  crypto.randomBytes = ((size: number) => draw(size)) as typeof randomBytes;
  crypto.randomUUID = () => uuidOf(draw(16));
  Date.now = () => clock[Math.min(looks++, clock.length - 1)] ?? THEN;
  syncBuiltinESMExports();
  return () => {
    Object.assign(crypto, { randomFillSync, randomBytes, randomUUID });
    Date.now = now;
    syncBuiltinESMExports();
  };
}

/** What a world's chance gives first. */
export const firstBytes = ({ seed }: World, size: number): Buffer => chance(seed)(size);

/** A cipher's key stream is as good as chance, and the same for the same seed. */
function chance(seed: number): (size: number) => Buffer {
  const key = Buffer.alloc(32);
  key.writeUInt32BE(seed);
  const stream = createCipheriv('aes-256-ctr', key, Buffer.alloc(16));
  return (size) => stream.update(Buffer.alloc(size));
}

function uuidOf(bytes: Buffer): ReturnType<typeof crypto.randomUUID> {
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x40;
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80;
  const hex = bytes.toString('hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}
