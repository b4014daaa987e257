import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';

/** As hex. */
export const sha256 = (bytes: Buffer | string): string => createHash('sha256').update(bytes).digest('hex');

/** Of a file, as hex. */
export const sha256Of = (path: string): string => sha256(readFileSync(path));
