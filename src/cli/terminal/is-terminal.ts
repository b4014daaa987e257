import { fstatSync, statSync } from 'node:fs';

/** Device for discarded output, on all systems but Windows. */
const NULL_DEVICE = '/dev/null';

/**
 * Whether a descriptor is a terminal. Only a character device other than the null device can be one; checking that
 * first avoids loading Node's terminal module, which takes some milliseconds, for pipes and for `2>/dev/null`.
 */
export function isTerminal(descriptor: number): boolean {
  try {
    const stat = fstatSync(descriptor);
    if (!stat.isCharacterDevice() || isNullDevice(stat.rdev)) return false;
  } catch {
    return false;
  }
  return process.getBuiltinModule('node:tty').isatty(descriptor);
}

/** Windows has the same number for all devices. */
const isNullDevice = (device: number): boolean =>
  process.platform !== 'win32' && statSync(NULL_DEVICE, { throwIfNoEntry: false })?.rdev === device;
