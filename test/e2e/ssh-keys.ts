import { spawnSync } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { isLong } from '../long.ts';

/** Makes an SSH key without a passphrase: a file, and beside it the public half. RSA keys of the default size take a second. */
export function makeSshKey(path: string, type: string, comment: string): void {
  const keygen = (...words: string[]) => spawnSync('ssh-keygen', ['-q', ...words, '-f', path]);
  if (type !== 'rsa') keygen('-t', type, '-N', '', '-C', comment);
  else if (isLong) keygen('-t', type, '-b', '2048', '-N', '', '-C', comment);
  else {
    // One that was made before, brought into the form of SSH.
    const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
    writeFileSync(path, privateKey.export({ format: 'pem', type: 'pkcs1' }), { mode: 0o600 });
    keygen('-p', '-P', '', '-N', '');
    keygen('-c', '-P', '', '-C', comment);
  }
}
