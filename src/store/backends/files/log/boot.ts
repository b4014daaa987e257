import { hash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { attempt } from '../../../../ground/errors.ts';
import { BOOT_BYTES } from './format.ts';

/** ID that a system gives to each of its boots. */
const BOOT_ID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
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
export const bootOf = (read: () => string): Uint8Array =>
  attempt(() => {
    const id = read().trim().toLowerCase();
    // An empty or masked file would make all boots one.
    return BOOT_ID.test(id) && /[1-9a-f]/.test(id)
      ? hash('sha256', id, 'buffer').subarray(0, BOOT_BYTES)
      : UNKNOWN;
  }, UNKNOWN);

/** Whether a record was certainly written since the machine was started: its writer may still be at work on it. */
export const isOfThisBoot = (boot: Uint8Array, present = thisBoot()): boolean =>
  !Buffer.from(present).equals(UNKNOWN) && Buffer.from(present).equals(boot);
