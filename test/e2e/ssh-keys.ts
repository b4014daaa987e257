import { spawnSync } from 'node:child_process';

/** Makes an SSH key without a passphrase: a file, and beside it the public half. RSA keys of the default size take a second. */
export function makeSshKey(path: string, type: string, comment: string): void {
  const size = type === 'rsa' ? ['-b', '2048'] : [];
  spawnSync('ssh-keygen', ['-q', '-t', type, ...size, '-N', '', '-C', comment, '-f', path]);
}
