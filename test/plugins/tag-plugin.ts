import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { printBech32 } from '../../src/transit/key-types/age/bech32.ts';
import { mlKemP256Kem, p256Kem } from '../../src/transit/key-types/age/tagged.ts';

/* A plugin for recipients on P-256, which are encrypted to without it. */

const SECRET = Buffer.alloc(32, 7);
export const TAG_IDENTITY = printBech32('age-plugin-tag-', SECRET).toUpperCase();
export const TAG_RECIPIENT = printBech32(p256Kem.recipientPrefix, p256Kem.publicOf(SECRET));
export const HYBRID_TAG_RECIPIENT = printBech32(mlKemP256Kem.recipientPrefix, mlKemP256Kem.publicOf(SECRET));

/** Makes the plugin `age-plugin-tag` in a directory, for the PATH. */
export function makeTagPlugin(directory: string): void {
  const path = join(directory, 'age-plugin-tag');
  const main = fileURLToPath(new URL('tag-plugin-process.ts', import.meta.url));
  writeFileSync(path, `#!/bin/sh\nexec '${process.execPath}' '${main}' "$@"\n`);
  chmodSync(path, 0o755);
}
