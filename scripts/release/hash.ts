import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';

/** Returns a SHA-256 hash in hex. */
export const sha256 = (bytes: Buffer | string): string => createHash('sha256').update(bytes).digest('hex');

/** Returns the SHA-256 hash of a file in hex. */
export const sha256Of = (path: string): string => sha256(readFileSync(path));
