import { OpenSsl } from './openssl.ts';

/** A certificate with its key, PEM. */
export interface Certified {
  readonly name: string;
  readonly cert: string;
  readonly key: string;
}

export interface Wanted {
  readonly by?: Certified;
  /** As `-subj` has it; default: the name as the common name. */
  readonly subject?: string;
  /** Lines of an extension section. */
  readonly extensions?: readonly string[];
  /** As openssl writes times: `20260101000000Z`. */
  readonly from?: string;
  readonly until?: string;
  readonly hash?: string;
  readonly newKey?: string;
  readonly serial?: string;
}

export const AUTHORITY = [
  'basicConstraints=critical,CA:TRUE',
  'keyUsage=critical,keyCertSign,cRLSign',
  'subjectKeyIdentifier=hash',
];

/** Certificates of authorities and clients, as the machine's openssl makes them. */
export class ClientCertificates {
  readonly #openssl = new OpenSsl();

  close(): void {
    this.#openssl.close();
  }

  /** @param name of the files; a second one of a name takes its place. */
  make(name: string, wanted: Wanted = {}): Certified {
    const { by, subject = `/CN=${name}`, extensions = CLIENT, from, until, hash = 'sha256' } = wanted;
    const { newKey = 'ec -pkeyopt ec_paramgen_curve:P-256', serial } = wanted;
    this.#openssl.write(
      `${name}.cnf`,
      ['[req]', 'distinguished_name=dn', '[dn]', '[ext]', ...extensions, ''].join('\n'),
    );
    const key = ['-newkey', ...newKey.split(' '), '-keyout', `${name}.key`, '-subj', subject];
    const request = ['req', '-config', `${name}.cnf`, '-nodes', `-${hash}`, ...key];
    if (from !== undefined && until !== undefined) {
      this.#openssl.args([...request, '-new', '-out', `${name}.csr`]);
      this.#database();
      const signer =
        by === undefined
          ? ['-selfsign', '-keyfile', `${name}.key`]
          : ['-cert', `${by.name}.pem`, '-keyfile', `${by.name}.key`];
      this.#openssl.args([
        ...['ca', '-batch', '-notext', '-config', 'ca.cnf', '-in', `${name}.csr`, ...signer],
        ...['-startdate', from, '-enddate', until, '-extfile', `${name}.cnf`, '-extensions', 'ext'],
        ...['-out', `${name}.pem`],
      ]);
    } else {
      this.#openssl.args([
        ...[...request, '-x509', '-extensions', 'ext', '-days', '2', '-out', `${name}.pem`],
        ...(by === undefined ? [] : ['-CA', `${by.name}.pem`, '-CAkey', `${by.name}.key`]),
        ...(serial === undefined ? [] : ['-set_serial', serial]),
      ]);
    }
    return { name, cert: this.#openssl.read(`${name}.pem`), key: this.#openssl.read(`${name}.key`) };
  }

  authority(name: string, wanted: Wanted = {}): Certified {
    return this.make(name, { extensions: AUTHORITY, ...wanted });
  }

  /**
   * A list of revoked certificates, PEM.
   * @param revoked certificates, PEM.
   * @param more since when it is so, as openssl writes times; and lines of an extension section.
   */
  revocationList(
    by: Certified,
    revoked: readonly Certified[],
    days = 2,
    more: { readonly since?: string; readonly extensions?: readonly string[] } = {},
  ): string {
    this.#database(more.extensions);
    const signer = ['-config', 'ca.cnf', '-cert', `${by.name}.pem`, '-keyfile', `${by.name}.key`];
    for (const { name } of revoked) this.#openssl.args(['ca', ...signer, '-revoke', `${name}.pem`]);
    const length = days > 0 ? ['-crldays', String(days)] : ['-crlsec', '1'];
    const since = more.since === undefined ? [] : ['-crl_lastupdate', more.since];
    const extended = more.extensions === undefined ? [] : ['-crlexts', 'list'];
    this.#openssl.args(['ca', ...signer, '-gencrl', ...length, ...since, ...extended, '-out', 'list.pem']);
    return this.#openssl.read('list.pem');
  }

  /** What `openssl ca` wants to know, of nobody yet. */
  #database(extensions: readonly string[] = []): void {
    const settings = [
      'database=index.txt',
      'new_certs_dir=.',
      'default_md=sha256',
      'policy=any',
      'rand_serial=yes',
    ];
    const names = ['commonName=optional', 'organizationName=optional', 'organizationalUnitName=optional'];
    this.#openssl.write('index.txt', '');
    this.#openssl.write('index.txt.attr', 'unique_subject = no\n');
    this.#openssl.write(
      'ca.cnf',
      ['[ca]', 'default_ca=it', '[it]', ...settings, '[any]', ...names, '[list]', ...extensions, ''].join(
        '\n',
      ),
    );
  }
}

const CLIENT = ['basicConstraints=CA:FALSE', 'subjectKeyIdentifier=hash', 'extendedKeyUsage=clientAuth'];
