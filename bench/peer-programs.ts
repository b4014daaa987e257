/**
 * Other programs with the same functions as Coffer, for `npm run bench -- peers`. Each is at the path in
 * COFFER_PEER_NAME (e.g. COFFER_PEER_BAO), on PATH, or built by `npm run test:clients`; nothing is installed.
 */
import { existsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import type { Row } from './measure.ts';

const NAMES = ['bao', 'age', 'age-keygen', 'fnox', 'minisign', 'openssl', 'sops', 'ssh-keygen'] as const;
export type PeerName = (typeof NAMES)[number];

const built = join(
  process.env['COFFER_CLIENTS_CACHE'] ?? join(tmpdir(), 'coffer-clients-cache'),
  'go',
  'bin',
);

/** Returns the path of a program; undefined if it is missing. */
export function peerProgram(name: PeerName): string | undefined {
  const given = process.env[`COFFER_PEER_${name.toUpperCase().replaceAll('-', '_')}`];
  if (given !== undefined) return given;
  const folders = [...(process.env['PATH'] ?? '').split(delimiter), built];
  return folders.map((folder) => join(folder, name)).find((path) => existsSync(path));
}

/** Returns a row that says that its peer is missing. Times in milliseconds. */
export const without = (operation: string, ours: number, name: PeerName): Row => ({
  operation,
  ours,
  floor: Number.NaN,
  ratio: Number.NaN,
  limit: Number.POSITIVE_INFINITY,
  floorName: `${name} is not there`,
});
