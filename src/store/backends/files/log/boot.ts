import { hash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { BOOT_BYTES } from './format.ts';

/** What stands for a boot that cannot be told from others. */
const UNKNOWN: Uint8Array = new Uint8Array(BOOT_BYTES);

let known: Uint8Array | undefined;

/** Returns what identifies this boot of the machine; zeros if the system does not tell boots apart. */
export function thisBoot(): Uint8Array {
  known ??= bootOf(() => readFileSync('/proc/sys/kernel/random/boot_id', 'utf8'));
  return known;
}

/**
 * Returns what identifies a boot.
 * @param read reads the ID that the system gave it
 */
export function bootOf(read: () => string): Uint8Array {
  try {
    return hash('sha256', read().trim(), 'buffer').subarray(0, BOOT_BYTES);
  } catch {
    return UNKNOWN;
  }
}

/** Whether a record was certainly written since the machine was started: its writer may still be at work on it. */
export const isOfThisBoot = (boot: Uint8Array, present = thisBoot()): boolean =>
  !Buffer.from(present).equals(UNKNOWN) && Buffer.from(present).equals(boot);
