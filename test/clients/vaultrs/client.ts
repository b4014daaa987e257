import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Client, checksOf } from '../client.ts';

const manifest = fileURLToPath(new URL('Cargo.toml', import.meta.url));

export const client: Client = {
  title: 'vaultrs for Rust',
  version: '0.8.0',
  minutes: 5,
  async install(machine) {
    const cargo = ['--locked', '--manifest-path', manifest];
    await machine.need('cargo', ['fetch', ...cargo]);
    // Its cryptography is compiled from C.
    await machine.need('cc', ['--version']);
    const folder = machine.folder('vaultrs');
    await machine.run('cargo', ['build', '--offline', '--target-dir', folder, ...cargo]);
    return join(folder, 'debug/vaultrs-client');
  },
  checks: checksOf(
    [
      'makes, reads, lists, configures, rotates, trims and deletes keys',
      'encrypts, decrypts and rewraps',
      'signs and verifies with each algorithm that it knows',
      'gets data keys, random bytes, hashes and HMACs',
      'exports, backs up, restores and imports keys',
      'asks for health, mounts, policies and tokens',
    ],
    (installed) => [installed],
  ),
};
