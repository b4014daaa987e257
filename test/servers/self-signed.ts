import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const NEW_KEY = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-subj', '/CN=localhost'];
const NAMES = 'subjectAltName=DNS:localhost,IP:127.0.0.1';

/** A certificate and its key. */
interface SelfSigned {
  readonly certificateFile: string;
  readonly keyFile: string;
  readonly pem: string;
}

const openssl = (directory: string, words: readonly string[]): void =>
  void execFileSync('openssl', words, { cwd: directory, stdio: 'ignore' });

const filesIn = (directory: string): Omit<SelfSigned, 'pem'> => ({
  certificateFile: join(directory, 'cert.pem'),
  keyFile: join(directory, 'key.pem'),
});

/** A self-signed certificate for localhost and 127.0.0.1, made with the machine's openssl. */
export function selfSigned(directory: string): SelfSigned {
  const files = filesIn(directory);
  const { keyFile, certificateFile } = files;
  openssl(directory, [
    ...['req', '-x509', ...NEW_KEY, '-days', '2', '-keyout', keyFile, '-out', certificateFile],
    ...['-addext', NAMES],
  ]);
  return { ...files, pem: readFileSync(certificateFile, 'utf8') };
}

/**
 * The same, valid between two moments.
 * @param dates as in certificates: YYYYMMDDHHMMSSZ
 */
export function selfSignedBetween(
  directory: string,
  dates: readonly [from: string, until: string],
): SelfSigned {
  const files = filesIn(directory);
  const { keyFile, certificateFile } = files;
  mkdirSync(join(directory, 'issued'));
  writeFileSync(join(directory, 'index'), '');
  writeFileSync(join(directory, 'serial'), '01');
  writeFileSync(
    join(directory, 'ca.cnf'),
    `[ca]\ndefault_ca=own\n[own]\ndatabase=index\nserial=serial\nnew_certs_dir=issued\ndefault_md=sha256\npolicy=any\nx509_extensions=names\n[any]\ncommonName=supplied\n[names]\n${NAMES}\n`,
  );
  openssl(directory, ['req', ...NEW_KEY, '-keyout', keyFile, '-out', 'request']);
  openssl(directory, [
    ...['ca', '-batch', '-notext', '-config', 'ca.cnf', '-selfsign', '-keyfile', keyFile, '-in', 'request'],
    ...['-out', certificateFile, '-startdate', dates[0], '-enddate', dates[1]],
  ]);
  return { ...files, pem: readFileSync(certificateFile, 'utf8') };
}
