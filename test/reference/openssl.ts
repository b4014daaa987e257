import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** An authority that signs certificates: `NAME.pem` and `NAME.key` of the directory. */
export interface Authority {
  readonly name: string;
  /** Its own certificate, PEM. */
  readonly pem: string;
}

/** The machine's `openssl`, in a directory of its own. */
export class OpenSsl {
  readonly directory = mkdtempSync(join(tmpdir(), 'coffer-openssl-'));

  close(): void {
    rmSync(this.directory, { recursive: true, force: true });
  }

  /** What a command prints on both its outputs. @throws when it fails. @param line words separated by single spaces. */
  run(line: string, input = ''): string {
    return execFileSync('sh', ['-c', 'exec openssl "$@" 2>&1', 'sh', ...line.split(' ')], {
      cwd: this.directory,
      input,
      encoding: 'utf8',
    });
  }

  /** As `run`, with words that may hold spaces. */
  args(words: readonly string[]): void {
    execFileSync('openssl', words, { cwd: this.directory, stdio: ['ignore', 'ignore', 'pipe'] });
  }

  read(name: string): string {
    return readFileSync(join(this.directory, name), 'utf8');
  }

  write(name: string, text: string | Uint8Array): void {
    writeFileSync(join(this.directory, name), text);
  }

  /** @param by whoever signs it; without it, it signs itself. */
  authority(name: string, by?: Authority): Authority {
    const signer = by === undefined ? '' : ` -CA ${by.name}.pem -CAkey ${by.name}.key`;
    this.run(
      `req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout ${name}.key -out ${name}.pem -days 2 -subj /CN=${name} -addext basicConstraints=critical,CA:TRUE${signer}`,
    );
    return { name, pem: this.read(`${name}.pem`) };
  }

  /** The certificate that an authority makes of a request, with all that the request asks for. PEM. */
  certified(request: string, by: Authority): string {
    this.write('asked.csr', request);
    this.run(
      `x509 -req -in asked.csr -CA ${by.name}.pem -CAkey ${by.name}.key -CAcreateserial -copy_extensions copy -days 2 -out issued.pem`,
    );
    return this.read('issued.pem');
  }

  /** A request of a key that is thrown away. @param more further options, separated by single spaces. */
  request(more: string): string {
    const made = `req -new -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout thrown.key -out made.csr`;
    this.run(`${made} ${more}`);
    return this.read('made.csr');
  }

  /** What `openssl req` says about a request whose signature it has verified. */
  verified(request: string): string {
    const text = this.run('req -verify -noout -text', request);
    if (!text.includes('verify OK')) throw new Error(`the signature is not valid: ${text}`);
    return text;
  }
}
