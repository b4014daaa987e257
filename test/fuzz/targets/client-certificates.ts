import type { CertRoleSettings } from '../../../src/access/methods/cert/documents.ts';
import { extensionText, meets } from '../../../src/access/methods/cert/login.ts';
import { type Certificate, readCertificate } from '../../../src/access/x509/certificate.ts';
import { chainsTo } from '../../../src/access/x509/chain.ts';
import { parseRevocationList, revocationListIn } from '../../../src/access/x509/revocation-list.ts';
import type { Chance } from '../../chance.ts';
import { type Certified, ClientCertificates } from '../../reference/client-certificates.ts';
import { spoiledBytes } from '../mutation.ts';
import type { Secrets } from '../secrets.ts';
import { Defect, target, type World } from '../target.ts';

/** What a client shows when it connects, and lists of revoked certificates, from whoever answers at their address. */
interface Shown {
  readonly form: 'login' | 'list';
  /** Which certificate of the chain was changed. */
  readonly at: number;
  readonly bytes: Buffer;
}

/** Within the two days for which the certificates are good. */
const SOON_MS = 60 * 60 * 1000;

const EXTENSIONS = [
  'basicConstraints=CA:FALSE',
  'subjectKeyIdentifier=hash',
  'extendedKeyUsage=clientAuth',
  'subjectAltName=DNS:a.example.com,email:a@example.com,URI:spiffe://a/b,IP:127.0.0.1',
  '1.2.3.4=ASN1:UTF8String:text',
];

const RULES: CertRoleSettings = {
  certificate: '',
  display_name: '',
  allowed_names: ['*a*b*'],
  allowed_common_names: ['*'],
  allowed_dns_sans: ['a.*.com'],
  allowed_email_sans: ['*@*'],
  allowed_uri_sans: ['*'],
  allowed_organizational_units: ['*'],
  required_extensions: ['1.2.3.4:*'],
  allowed_metadata_extensions: [],
};

const derOf = ({ cert }: Pick<Certified, 'cert'>): Buffer =>
  Buffer.from(cert.replaceAll(/-----.*-----|\s/g, ''), 'base64');

async function open(_: Chance, secrets: Secrets): Promise<World<Shown>> {
  const made = new ClientCertificates();
  const root = made.authority('root');
  const middle = made.authority('middle', { by: root });
  const leaf = made.make('leaf', { by: middle, subject: '/OU=unit/CN=a b', extensions: EXTENSIONS });
  const rsa = made.authority('rsa', { newKey: 'rsa:2048' });
  const list = derOf({ cert: made.revocationList(root, [middle, leaf]) });
  made.close();
  const chain = [leaf, middle].map(derOf);
  const others = [...chain, list, derOf(rsa)];
  const anchor = readCertificate(derOf(root));
  const serials = new Set(revocationListIn(list).serials);
  const nowMs = Date.now() + SOON_MS;
  const read = <T>(parse: () => T): T | undefined => {
    const outcome = secrets.outcomeNow(parse);
    if ('value' in outcome) return outcome.value;
    if (outcome.refused.kind !== 'invalid') throw outcome.refused;
    return undefined;
  };
  const certificateOf = (bytes: Buffer): Certificate | undefined => read(() => readCertificate(bytes));
  return {
    generate(chance) {
      if (chance.oneIn(3)) return { form: 'list', at: 0, bytes: spoiledBytes(chance, list, others) };
      const at = chance.below(chain.length);
      return { form: 'login', at, bytes: spoiledBytes(chance, chain[at] ?? list, others) };
    },
    check({ form, at, bytes }) {
      if (form === 'list') checkList(bytes);
      else checkLogin(chain.map((der, index) => (index === at ? bytes : der)));
    },
    print: ({ form, at, bytes }) => `${form} ${at} ${bytes.toString('base64')}`,
    close: () => undefined,
  };

  function checkList(bytes: Buffer): void {
    read(() => parseRevocationList(bytes.toString('base64')));
    const found = read(() => revocationListIn(bytes));
    if (found === undefined || !found.isSignedBy(anchor)) return;
    if (found.serials.length !== serials.size || !found.serials.every((serial) => serials.has(serial))) {
      throw new Defect('a list is signed that its authority never made');
    }
  }

  function checkLogin(shown: readonly Buffer[]): void {
    const [client, ...intermediates] = shown.map(certificateOf);
    if (client === undefined) return;
    meets(client, RULES);
    extensionText(client, '1.2.3.4');
    const known = intermediates.filter((certificate) => certificate !== undefined);
    const chains = read(() => chainsTo([anchor], { leaf: client, intermediates: known }, nowMs)) ?? [];
    const isMade = (certificate: Certificate) =>
      certificate === anchor || chain.some((der) => der.equals(certificate.x509.raw));
    if (!chains.every((found) => found.every(isMade)))
      throw new Defect('a certificate counts that nobody made');
  }
}

export const clientCertificates = target<Shown>({ name: 'client-certificates', cases: 15_000, open });
