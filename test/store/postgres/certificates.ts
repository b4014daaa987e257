import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** Two files in PEM, and what is in them. */
export interface Certified {
  readonly certificateFile: string;
  readonly keyFile: string;
  readonly certificate: string;
  readonly key: string;
}

/** Certificates made with the machine's openssl, in one directory. */
export class Certificates {
  readonly #directory: string;

  constructor(directory: string) {
    this.#directory = directory;
  }

  /** An authority that everybody has to be told of. */
  authority(name: string): Certified {
    return this.#make(name, ['basicConstraints = critical, CA:TRUE', 'keyUsage = critical, keyCertSign']);
  }

  /** @param subject the common name. @param hosts as `subjectAltName` has them; none for a client. */
  issue(by: Certified, subject: string, hosts: readonly string[] = []): Certified {
    const names = hosts.length === 0 ? [] : [`subjectAltName = ${hosts.join(', ')}`];
    return this.#make(subject, ['basicConstraints = critical, CA:FALSE', ...names], by);
  }

  #make(name: string, extensions: readonly string[], by?: Certified): Certified {
    const [certificateFile, keyFile, configuration] = ['crt', 'key', 'cnf'].map((ending) =>
      join(this.#directory, `${name}.${ending}`),
    ) as [string, string, string];
    const sections = ['[req]', 'distinguished_name = dn', 'prompt = no', '[dn]', `CN = ${name}`, '[ext]'];
    writeFileSync(configuration, [...sections, ...extensions, ''].join('\n'));
    execFileSync(
      'openssl',
      [
        ...['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-days', '2'],
        ...['-config', configuration, '-extensions', 'ext', '-keyout', keyFile, '-out', certificateFile],
        ...(by === undefined ? [] : ['-CA', by.certificateFile, '-CAkey', by.keyFile]),
      ],
      { stdio: 'pipe' },
    );
    const [certificate, key] = [certificateFile, keyFile].map((file) => readFileSync(file, 'utf8')) as [
      string,
      string,
    ];
    return { certificateFile, keyFile, certificate, key };
  }
}
