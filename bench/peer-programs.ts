/**
 * Programs of others that do what Coffer does, for `npm run bench -- peers`. Each is where COFFER_PEER_NAME says (COFFER_PEER_BAO),
 * on PATH, or where `npm run test:clients` has built it; nothing is installed.
 */
import { existsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import type { Row } from './measure.ts';

const NAMES = ['bao', 'age', 'age-keygen', 'minisign', 'openssl', 'sops', 'ssh-keygen'] as const;
export type PeerName = (typeof NAMES)[number];

const built = join(
  process.env['COFFER_CLIENTS_CACHE'] ?? join(tmpdir(), 'coffer-clients-cache'),
  'go',
  'bin',
);

/** The path of a program, or undefined. */
export function peerProgram(name: PeerName): string | undefined {
  const given = process.env[`COFFER_PEER_${name.toUpperCase().replaceAll('-', '_')}`];
  if (given !== undefined) return given;
  const folders = [...(process.env['PATH'] ?? '').split(delimiter), built];
  return folders.map((folder) => join(folder, name)).find((path) => existsSync(path));
}

/** A row that has nothing to be compared with, and says so. Times in milliseconds. */
export const without = (operation: string, ours: number, name: PeerName): Row => ({
  operation,
  ours,
  floor: Number.NaN,
  ratio: Number.NaN,
  limit: Number.POSITIVE_INFINITY,
  floorName: `${name} is not there`,
});
