import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** A self-signed certificate for localhost and 127.0.0.1, made with the machine's openssl. */
export function selfSigned(directory: string): { certificateFile: string; keyFile: string; pem: string } {
  const certificateFile = join(directory, 'cert.pem');
  const keyFile = join(directory, 'key.pem');
  execFileSync(
    'openssl',
    [
      ...['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-days', '2'],
      ...['-keyout', keyFile, '-out', certificateFile, '-subj', '/CN=localhost'],
      ...['-addext', 'subjectAltName=DNS:localhost,IP:127.0.0.1'],
    ],
    { stdio: 'ignore' },
  );
  return { certificateFile, keyFile, pem: readFileSync(certificateFile, 'utf8') };
}
