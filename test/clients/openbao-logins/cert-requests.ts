import { ClientCertificates } from '../../reference/client-certificates.ts';
import { many, type Step, type Subject } from './step.ts';

const config = 'auth/cert/config';
const role = 'auth/cert/certs/web';
const login = 'POST auth/cert/login';
const renewal = 'POST auth/token/renew-self';
const unsigned = { as: '' };
const shown = (showing: string) => ({ as: '', showing });
const NAMED = { name: 'web' };

export const cert: readonly Step[] = [
  [`GET ${config}`],
  ...many(`POST ${config}`, [
    {},
    { ocsp_cache_size: 1 },
    { ocsp_cache_size: 100_001 },
    { disable_binding: 'x' },
    { ocsp_cache_size: 50, enable_identity_alias_metadata: true },
  ]),
  [`GET ${config}`],
  [`POST ${config}`, { enable_identity_alias_metadata: false }],
  [login, {}, unsigned],
  [login, {}, shown('web')],
  ['GET auth/cert/certs?list=true'],
  [`GET ${role}`],
  ...many(`POST ${role}`, [
    {},
    { certificate: 'nonsense' },
    { certificate: '{for_servers}' },
    { certificate: '{ca}', ttl: 60, max_ttl: 30 },
    { certificate: '{ca}', token_ttl: '2h', token_max_ttl: '1h' },
    { certificate: '{ca}', token_type: 'x' },
    { certificate: '{ca}', token_bound_cidrs: 'foo' },
    { certificate: '{ca}', token_num_uses: -1 },
    { certificate: '{ca}', token_period: '1000h' },
    { certificate: '{ca}', token_ttl: '1000h' },
    { certificate: '{ca}', required_extensions: '1.2.3.4' },
    { certificate: '{ca}', ocsp_enabled: true },
  ]),
  [`DELETE ${role}`],
  [`DELETE ${role}`],
  [
    `POST ${role}`,
    {
      certificate: '{ca}',
      display_name: 'shown',
      allowed_dns_sans: 'web*,db*',
      required_extensions: '1.2.3.4.5:blue*',
      allowed_metadata_extensions: '1.2.3.4.5,1.2.3.4.6',
      token_policies: ['app', 'other'],
      token_ttl: '20m',
      token_max_ttl: '1h',
    },
  ],
  [`GET ${role}`],
  ['GET auth/cert/certs/WEB'],
  ['GET auth/cert/certs?list=true'],
  [login, {}, unsigned],
  [login, { name: 'nosuch' }, shown('web')],
  ...['self_made', 'namesake', 'expired', 'not_yet', 'server_only', 'below', 'db', 'plain', 'nameless'].map(
    (showing): Step => [login, NAMED, shown(showing)],
  ),
  [login, {}, shown('expired')],
  [login, {}, shown('web')],
  [login, { name: 'WEB' }, { ...shown('web'), keep: { login: 'auth.client_token' } }],
  ['GET auth/token/lookup-self', undefined, { as: 'login' }],
  [renewal, {}, { as: 'login', showing: 'web' }],
  [renewal, {}, { as: 'login' }],
  [renewal, {}, { as: 'login', showing: 'twin' }],
  [renewal, {}, { as: 'login', showing: 'plain' }],
  [`POST ${config}`, { disable_binding: true }],
  [renewal, { increment: 60 }, { as: 'login' }],
  [`POST ${config}`, { disable_binding: false }],
  [`POST ${role}`, { allowed_dns_sans: 'db*' }],
  [`GET ${role}`],
  [renewal, {}, { as: 'login', showing: 'web' }],
  [login, NAMED, shown('web')],
  ...(
    [
      ['allowed_names', 'ops@*'],
      ['allowed_names', 'x*'],
      ['allowed_common_names', 'web1.*'],
      ['allowed_common_names', 'db*'],
      ['allowed_email_sans', '*@example.com'],
      ['allowed_email_sans', '*@example.org'],
      ['allowed_uri_sans', 'spiffe://example.com/*'],
      ['allowed_uri_sans', 'spiffe://example.org/*'],
      ['allowed_organizational_units', 'web'],
      ['allowed_organizational_units', 'db'],
      ['required_extensions', '1.2.3.4.5:red'],
      ['required_extensions', '1.2.3.4.6:*'],
    ] as const
  ).flatMap(([setting, pattern]): Step[] => [
    [`POST auth/cert/certs/${setting}`, { certificate: '{ca}', [setting]: pattern }],
    [login, { name: setting }, shown('web')],
    [`DELETE auth/cert/certs/${setting}`],
  ]),
  ['POST auth/cert/certs/pinned', { certificate: '{web}', policies: 'app', ttl: '5m', max_ttl: '10m' }],
  ['GET auth/cert/certs/pinned'],
  [login, { name: 'pinned' }, shown('web')],
  [login, { name: 'pinned' }, shown('twin')],
  [
    'POST auth/cert/certs/deep',
    { certificate: '{ca}', token_type: 'batch', token_bound_cidrs: '127.0.0.0/8' },
  ],
  [login, { name: 'deep' }, shown('chain')],
  ['POST auth/cert/certs/deep', { token_bound_cidrs: '10.0.0.0/8' }],
  [login, { name: 'deep' }, shown('chain')],
  ['POST auth/cert/certs/deep', { token_bound_cidrs: '' }],
  ['GET auth/cert/crls?list=true'],
  ['GET auth/cert/crls/nosuch'],
  ['DELETE auth/cert/crls/nosuch'],
  ...many('POST auth/cert/crls/mine', [
    {},
    { crl: 'nonsense' },
    { crl: '{ca}' },
    { url: '' },
    { url: 'file:///etc/passwd' },
    { crl: '{list}' },
  ]),
  ['GET auth/cert/crls/mine'],
  ['GET auth/cert/crls?list=true'],
  [login, { name: 'deep' }, shown('revoked')],
  [login, { name: 'deep' }, shown('web')],
  ['DELETE auth/cert/crls/mine'],
  [login, { name: 'deep' }, shown('revoked')],
  [login, { name: 'pinned' }, { ...shown('web'), keep: { last: 'auth.client_token' } }],
  ['DELETE auth/cert/certs/pinned'],
  [renewal, { increment: 30 }, { as: 'last', showing: 'web' }],
  ['GET auth/cert/login', undefined, unsigned],
];

const WEB = [
  'basicConstraints=CA:FALSE',
  'subjectKeyIdentifier=hash',
  'authorityKeyIdentifier=keyid',
  'extendedKeyUsage=clientAuth',
  'subjectAltName=DNS:web1.example.com,email:ops@example.com,URI:spiffe://example.com/web',
  '1.2.3.4.5=ASN1:UTF8String:blue-team',
];
const NAMES = '/OU=web/CN=web1.example.com';

/** Clients of an authority, and of others, and what may be wrong with one. */
export function clients(): Pick<Subject, 'known' | 'certificates'> {
  const made = new ClientCertificates();
  try {
    const ca = made.authority('ca');
    const middle = made.authority('middle', { by: ca });
    const below = made.make('below', { by: middle });
    const of = { subject: NAMES, extensions: WEB };
    const certificates = {
      web: made.make('web', { by: ca, ...of }),
      twin: made.make('twin', { by: ca, ...of }),
      db: made.make('db', {
        by: ca,
        extensions: WEB.map((line) => line.replace('web1', 'mail1')),
      }),
      plain: made.make('plain', { by: ca }),
      nameless: made.make('nameless', { by: ca, subject: '/O=nobody', extensions: WEB }),
      self_made: made.make('self-made', of),
      namesake: made.make('namesake', { by: made.authority('other', { subject: '/CN=ca' }), ...of }),
      expired: made.make('expired', { by: ca, ...of, from: '20200101000000Z', until: '20200201000000Z' }),
      not_yet: made.make('not-yet', { by: ca, ...of, from: '20900101000000Z', until: '20900201000000Z' }),
      server_only: made.make('server-only', { by: ca, extensions: ['extendedKeyUsage=serverAuth'] }),
      revoked: made.make('revoked', { by: ca, ...of }),
      below,
      chain: { cert: below.cert + middle.cert, key: below.key },
    };
    const forServers = made.make('for-servers', { extensions: ['extendedKeyUsage=serverAuth'] });
    const list = made.revocationList(ca, [certificates.revoked]);
    const texts = { ca: ca.cert, web: certificates.web.cert, for_servers: forServers.cert, list };
    return {
      certificates,
      known: Object.fromEntries(
        Object.entries(texts).map(([name, pem]) => [name, JSON.stringify(pem).slice(1, -1)]),
      ),
    };
  } finally {
    made.close();
  }
}
