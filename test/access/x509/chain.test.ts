import { X509Certificate } from 'node:crypto';
import { afterAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { type Certificate, readCertificate } from '../../../src/access/x509/certificate.ts';
import { chainsTo } from '../../../src/access/x509/chain.ts';
import { AUTHORITY, type Certified, ClientCertificates } from '../../reference/client-certificates.ts';
import { refusal } from '../../refusal.ts';

const made = new ClientCertificates();
afterAll(() => made.close());

const read = ({ cert }: Certified): Certificate =>
  readCertificate(Buffer.from(cert.replaceAll(/-----.*-----|\s/g, ''), 'base64'));
const names = (chain: readonly Certificate[]) => chain.map(({ commonName }) => commonName);
/** The certificates are made while the tests run, and are good for two days. */
const now = Date.now() + 24 * 60 * 60 * 1000;

const root = made.authority('root');
const middle = made.authority('middle', { by: root });

describe('the ways from a certificate to an authority', () => {
  it('are all that there are, through intermediates in any order', () => {
    const low = made.authority('low', { by: middle });
    const leaf = read(made.make('leaf', { by: low }));
    const intermediates = [read(middle), read(low), read(made.authority('unrelated'))];
    const chains = chainsTo([read(root), read(low)], { leaf, intermediates }, now);
    expect(chains.map(names).toSorted()).toEqual([
      ['leaf', 'low'],
      ['leaf', 'low', 'middle', 'root'],
    ]);
    expect(chainsTo([read(root)], { leaf, intermediates: intermediates.slice(0, 1) }, now)).toEqual([]);
  });

  it('count against the path length of an authority what it issued to its own name, as in Go', () => {
    const limited = (pathLength: number) => [
      `basicConstraints=critical,CA:TRUE,pathlen:${pathLength}`,
      'keyUsage=critical,keyCertSign',
    ];
    const own = (length: number) => {
      const first = made.authority(`first-${length}`, { extensions: limited(length) });
      const second = made.authority(`second-${length}`, { by: first, subject: `/CN=first-${length}` });
      const leaf = read(made.make(`under-second-${length}`, { by: second }));
      return () => chainsTo([read(first)], { leaf, intermediates: [read(second)] }, now);
    };
    expect(refusal(own(0)).message).toContain('x509: too many intermediates for path length constraint');
    expect(own(1)().map(names)).toEqual([['under-second-1', 'first-1', 'first-1']]);
  });

  it('are the certificate alone where it is trusted itself, and also what it leads to', () => {
    const leaf = read(made.make('trusted-itself', { by: root }));
    const ways = (anchors: readonly Certificate[]) =>
      chainsTo(anchors, { leaf, intermediates: [] }, now).map(names);
    expect(ways([leaf])).toEqual([['trusted-itself']]);
    expect(ways([leaf, read(root)])).toEqual([['trusted-itself'], ['trusted-itself', 'root']]);
    expect(ways([read(made.make('trusted-itself', { by: root })), read(root)])).toEqual([
      ['trusted-itself', 'root'],
    ]);
  });

  it('end where authorities sign each other in a circle', () => {
    const other = made.authority('circle-b');
    const one = made.authority('circle-a', { by: other });
    const back = made.authority('circle-b', { by: one });
    const leaf = read(made.make('in-circle', { by: one }));
    const intermediates = [read(one), read(back), read(other)];
    expect(chainsTo([read(root)], { leaf, intermediates }, now)).toEqual([]);
  });

  it.each([
    ['RSA', 'rsa:2048', 'sha256'],
    ['RSA-PSS', 'rsa:2048 -sigopt rsa_padding_mode:pss', 'sha256'],
    ['P-384', 'ec -pkeyopt ec_paramgen_curve:P-384', 'sha384'],
    ['Ed25519', 'ed25519', 'sha512'],
  ])('are found where keys are of %s', (name, newKey, hash) => {
    const by = made.authority(`root-${name}`, { newKey, hash });
    const leaf = read(made.make(`leaf-${name}`, { by, hash, newKey }));
    expect(chainsTo([read(by)], { leaf, intermediates: [] }, now).map(names)).toEqual([
      [`leaf-${name}`, `root-${name}`],
    ]);
  });

  it.each([
    ['a client', () => made.make('weak', { by: root, newKey: 'rsa:1024' }), root],
    [
      'an authority',
      (by: Certified) => made.make('strong', { by }),
      made.authority('weak-root', { newKey: 'rsa:1024' }),
    ],
  ])('are none where %s has a short key', (_, makeLeaf, by) => {
    const leaf = read(makeLeaf(by));
    expect(refusal(() => chainsTo([read(by)], { leaf, intermediates: [] }, now)).message).toBe(
      "failed to verify client's certificate: x509: certificate has a key that is too weak",
    );
  });

  it('are good from the second in which each certificate begins to the one in which it ends', () => {
    const leaf = read(made.make('in-time', { by: root }));
    const { validFromDate, validToDate } = leaf.x509;
    const at = (ms: number) => chainsTo([read(root)], { leaf, intermediates: [] }, ms);
    const from = Math.max(validFromDate.getTime(), read(root).x509.validFromDate.getTime());
    const until = Math.min(validToDate.getTime(), read(root).x509.validToDate.getTime());
    for (const ms of [from, until]) expect(at(ms)).toHaveLength(1);
    expect(refusal(() => at(validFromDate.getTime() - 1)).message).toMatch(/current time .* is before /);
    expect(refusal(() => at(validToDate.getTime() + 1)).message).toMatch(/current time .* is after /);
  });

  it('are none where any of the certificates is not for clients', () => {
    const purposes = (by: Certified, name: string, of: string) =>
      made.authority(name, { by, extensions: [...AUTHORITY, `extendedKeyUsage=${of}`] });
    const servers = purposes(root, 'of-servers', 'serverAuth');
    const clients = purposes(root, 'of-clients', 'serverAuth,clientAuth');
    const anything = purposes(root, 'of-anything', 'anyExtendedKeyUsage');
    const under = (by: Certified) => {
      const leaf = read(made.make(`under-${by.name}`, { by }));
      return () => chainsTo([read(root)], { leaf, intermediates: [read(by)] }, now);
    };
    for (const by of [clients, anything]) expect(under(by)()).toHaveLength(1);
    expect(refusal(under(servers)).message).toContain('certificate specifies an incompatible key usage');
  });

  it('are none where any of the certificates below the trusted one is signed over SHA-1', () => {
    const old = made.authority('old-middle', { by: root, hash: 'sha1' });
    for (const [by, hash] of [
      [middle, 'sha1'],
      [old, 'sha256'],
    ] as const) {
      const leaf = read(made.make(`${hash}-under-${by.name}`, { by, hash }));
      const chains = () => chainsTo([read(root)], { leaf, intermediates: [read(by)] }, now);
      expect(refusal(chains).message).toContain('cannot verify signature: insecure algorithm');
    }
  });

  it('have ten certificates at most', () => {
    const authorities = [root];
    const last = (depth: number) => authorities[depth] ?? root;
    for (let i = 1; i < 10; i++) authorities.push(made.authority(`step-${i}`, { by: last(i - 1) }));
    const under = (depth: number) => {
      const leaf = read(made.make(`deep-${depth}`, { by: last(depth) }));
      const intermediates = authorities.slice(1, depth + 1).map(read);
      return chainsTo([read(root)], { leaf, intermediates }, now).map((chain) => chain.length);
    };
    expect([under(8), under(9)]).toEqual([[10], []]);
  });

  it('are looked for with an end, however many authorities have one name', () => {
    const extensions = [...AUTHORITY.slice(0, 2), 'subjectKeyIdentifier=01:02:03'];
    const anchors = Array.from({ length: 12 }, () => read(made.authority('same', { extensions })));
    const signer = made.authority('same', { extensions });
    const leaf = read(made.make('of-same', { by: signer }));
    const copies = () => anchors.map(({ x509 }) => readCertificate(x509.raw));
    const many = Array.from({ length: 10 }, copies).flat();
    expect(chainsTo([...many, read(signer)], { leaf, intermediates: [] }, now)).toEqual([]);
    expect(chainsTo([...anchors, read(signer)], { leaf, intermediates: [] }, now)).toHaveLength(1);
  });
});

describe('a stranger', () => {
  const stranger = made.authority('stranger');
  const signs = vi.spyOn(X509Certificate.prototype, 'verify');
  beforeEach(() => void signs.mockClear());

  it('has nothing verified by keys of their own, which may take as long as they like', () => {
    const same = { subject: '/CN=stranger', extensions: ['basicConstraints=CA:TRUE'], by: stranger };
    const each = Array.from({ length: 4 }, (_, index) => made.make(`stranger-${index}`, same));
    const leaf = read(made.make('of-stranger', { by: stranger }));
    const intermediates = [stranger, ...each].map(read);
    expect(chainsTo([read(root)], { leaf, intermediates }, now)).toEqual([]);
    expect(signs).not.toHaveBeenCalled();
  });

  it('who is nobody’s authority has what they signed verified once, and nothing behind it', () => {
    const client = made.make('no-authority', { by: root, extensions: ['basicConstraints=CA:FALSE'] });
    const below = made.make('below', { by: client, extensions: ['basicConstraints=CA:TRUE'] });
    const leaf = read(made.make('of-below', { by: below }));
    const intermediates = [client, below].map(read);
    expect(chainsTo([read(root)], { leaf, intermediates }, now)).toEqual([]);
    expect(signs).toHaveBeenCalledTimes(2);
  });
});

describe('a certificate', () => {
  it('with an extension twice, a negative number or bytes behind it is not read', () => {
    const der = read(root).x509.raw;
    expect(refusal(() => readCertificate(Buffer.concat([der, Buffer.from([0])]))).kind).toBe('invalid');
    expect(refusal(() => readCertificate(der.subarray(0, 100))).kind).toBe('invalid');
    const negative = made.make('negative', { by: root, serial: '-5' });
    expect(refusal(() => read(negative)).message).toBe('asn1: a number is negative');
    const similar = read(made.make('similar', { extensions: ['1.2.3.4=ASN1:NULL', '1.2.3.5=ASN1:NULL'] }));
    const twice = Buffer.from(similar.x509.raw.toString('hex').replace('06032a0305', '06032a0304'), 'hex');
    expect(refusal(() => readCertificate(twice)).message).toBe('asn1: duplicate extension');
  });

  it('has its names from its bytes, not from how they are printed', () => {
    const { commonName, dns } = read(
      made.make('printed', {
        subject: '/CN=first/CN=a\\/b, DNS:evil.example.com',
        extensions: [
          'subjectAltName=@alt',
          '[alt]',
          'DNS.1=good.example.com',
          'URI.1=http://x/,DNS:evil.example.com',
        ],
      }),
    );
    expect(commonName).toBe('a/b, DNS:evil.example.com');
    expect(dns).toEqual(['good.example.com']);
  });
});
