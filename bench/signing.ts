/** Signing and hashing a large file against `openssl dgst` with the same hash. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { comparePrograms, type Row } from './measure.ts';
import { hasPeer } from './peers.ts';

const BYTES = 4 * 2 ** 30;
/** 0.8 of openssl's speed. */
const LIMIT = 1.25;
const PAIRS = 3;
const command = [process.execPath, fileURLToPath(new URL('../bin/coffer', import.meta.url))];

export async function run(): Promise<readonly Row[]> {
  if (!hasPeer('openssl')) return [];
  const directory = mkdtempSync(join(tmpdir(), 'coffer-bench-'));
  try {
    const file = join(directory, 'large');
    writeFileSync(file, '');
    truncateSync(file, BYTES);
    const env = {
      ...process.env,
      COFFER_STORE: join(directory, 'store'),
      COFFER_MASTER_KEY: Buffer.alloc(32, 7).toString('base64'),
    };
    const [node = '', ...start] = command;
    execFileSync(node, [...start, '-q', 'init'], { env });
    execFileSync(node, [...start, '-q', 'transit', 'keys', 'create', 'release', '--type', 'ed25519'], {
      env,
    });
    const row = (operation: string, hash: string, words: readonly string[]): Row => ({
      operation: `${operation}, 4 GiB`,
      floorName: `openssl dgst -${hash}`,
      limit: LIMIT,
      ...comparePrograms(
        { command: [...command, ...words], env },
        { command: ['openssl', 'dgst', `-${hash}`, file] },
        PAIRS,
        1,
      ),
    });
    const sign = ['sign', file, '--key', 'release', '--force'];
    return [
      row('sign', 'sha512', sign),
      row('sign, minisign', 'blake2b512', [...sign, '--format', 'minisign']),
      row('transit hash', 'sha256', ['transit', 'hash', '--in', file]),
    ];
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}
