import { describe, expect, it } from 'vitest';
import type { Reply } from '../../../servers/serving.ts';
import { certificateWorld, FUTURE, outcome, PAST, WEB } from './certs.ts';

const { made, ca, web, ask, root, tried } = certificateWorld();
const otherCa = made.authority('other', { subject: '/CN=ca' });
const middle = made.authority('middle', { by: ca });
const below = made.make('below', { by: middle });

const role = (name: string, body: object): Promise<Reply> => root('POST', `auth/cert/certs/${name}`, body);
describe('a login', () => {
  const expired = made.make('expired', { by: ca, ...PAST });
  const notYet = made.make('not-yet', { by: ca, ...FUTURE });
  const serverOnly = made.make('server-only', { by: ca, extensions: ['extendedKeyUsage=serverAuth'] });
  const selfMade = made.make('self-made', { subject: '/OU=ops/OU=web/CN=web1.example.com', extensions: WEB });
  const namesake = made.make('namesake', {
    by: otherCa,
    subject: '/OU=ops/OU=web/CN=web1.example.com',
    extensions: WEB,
  });
  const leafMade = made.make('leaf-made', { by: web });
  const nameless = made.make('nameless', { by: ca, subject: '/O=nobody' });
  const critical = made.make('critical', { by: ca, extensions: ['1.2.3.4=critical,ASN1:UTF8String:x'] });
  const oldHash = made.make('old-hash', { by: ca, hash: 'sha1' });
  const oldCa = made.authority('old-ca', { ...PAST });
  const ofOldCa = made.make('of-old-ca', { by: oldCa });
  const shortCa = made.authority('short-ca', {
    extensions: ['basicConstraints=critical,CA:TRUE,pathlen:0', 'keyUsage=critical,keyCertSign'],
  });
  const tooLow = made.authority('too-low', { by: shortCa });
  const tooDeep = made.make('too-deep', { by: tooLow });
  const bounded = made.authority('bounded', {
    extensions: ['basicConstraints=critical,CA:TRUE', 'nameConstraints=permitted;DNS:example.org'],
  });
  const ofBounded = made.make('of-bounded', { by: bounded, extensions: WEB });
  const mute = made.authority('mute', {
    extensions: ['basicConstraints=critical,CA:TRUE', 'keyUsage=critical,cRLSign'],
  });
  const ofMute = made.make('of-mute', { by: mute });
  const servers = made.authority('servers', {
    extensions: ['basicConstraints=critical,CA:TRUE', 'extendedKeyUsage=serverAuth'],
  });
  const ofServers = made.make('of-servers', { by: servers });

  const NOBODY = 'invalid certificate or no client certificate supplied';
  const x509 = (text: string) => `failed to verify client's certificate: x509: ${text}`;
  const times = (side: string) =>
    expect.stringMatching(
      new RegExp(
        `^failed to verify client's certificate: x509: certificate has expired or is not yet valid: current time \\d{4}-\\d\\d-\\d\\dT[\\d:]+Z is ${side}$`,
      ),
    );

  it.each([
    ['without a certificate', undefined, ca, 'no client certificate found'],
    ['with one that has ended', expired, ca, times('after 2020-02-01T00:00:00Z')],
    ['with one that is not valid yet', notYet, ca, times('before 2090-01-01T00:00:00Z')],
    ['with one that is for servers', serverOnly, ca, x509('certificate specifies an incompatible key usage')],
    ['with one made by oneself with the same names', selfMade, ca, NOBODY],
    ['with one of another authority of the same name', namesake, ca, NOBODY],
    [
      'with one that was signed by a mere client',
      { cert: leafMade.cert + web.cert, key: leafMade.key },
      ca,
      x509('certificate is not authorized to sign other certificates'),
    ],
    ['without what stands between', below, ca, NOBODY],
    ['with nobody’s name', nameless, ca, 'missing name in alias'],
    ['with what must be understood, and is not', critical, ca, x509('unhandled critical extension')],
    ['with a signature over SHA-1', oldHash, ca, x509('cannot verify signature: insecure algorithm')],
    ['by an authority that has ended', ofOldCa, oldCa, times('after 2020-02-01T00:00:00Z')],
    [
      'by an authority too far down',
      { cert: tooDeep.cert + tooLow.cert, key: tooDeep.key },
      shortCa,
      x509('too many intermediates for path length constraint'),
    ],
    ['by an authority for some names only', ofBounded, bounded, x509('name constraints are not supported')],
    ['by an authority that signs no certificates', ofMute, mute, NOBODY],
    [
      'by an authority of servers',
      ofServers,
      servers,
      x509('certificate specifies an incompatible key usage'),
    ],
  ])('is refused %s', async (_, client, by, text) => {
    const { status, json } = await tried(client, { certificate: by.cert });
    expect([status, json]).toEqual([400, { errors: [text] }]);
  });

  it('is refused with a role that is not there', async () => {
    expect(outcome(await tried(web, { certificate: ca.cert }, { name: 'nosuch' }))).toEqual([400, [NOBODY]]);
    expect(outcome(await tried(web, { certificate: ca.cert }, { name: '../one' }))).toEqual([400, [NOBODY]]);
  });

  it('is refused from elsewhere than the role is bound to', async () => {
    const { status, json } = await tried(web, { certificate: ca.cert, bound_cidrs: '10.0.0.0/8' });
    expect([status, json]).toEqual([403, { errors: ['permission denied'] }]);
    const from = { certificate: ca.cert, bound_cidrs: '10.0.0.0/8,127.0.0.0/8' };
    expect((await tried(web, from)).status).toBe(200);
  });

  it('is refused by another method than POST', async () => {
    const answer = await ask('GET', 'auth/cert/login');
    expect([answer.status, answer.json]).toEqual([405, { errors: ['unsupported operation'] }]);
  });
});

describe('a role', () => {
  it('is shown as it was set, listed in pages and deleted', async () => {
    await role('shown', {
      certificate: ca.cert,
      allowed_dns_sans: 'a.example.com,b.example.com',
      policies: 'app',
      lease: 60,
      max_ttl: '1h',
    });
    expect((await root('GET', 'auth/cert/certs/shown')).json.data).toEqual({
      allowed_common_names: null,
      allowed_dns_sans: ['a.example.com', 'b.example.com'],
      allowed_email_sans: null,
      allowed_metadata_extensions: null,
      allowed_names: null,
      allowed_organizational_units: null,
      allowed_uri_sans: null,
      certificate: ca.cert,
      display_name: 'shown',
      max_ttl: 3600,
      ocsp_ca_certificates: '',
      ocsp_enabled: false,
      ocsp_fail_open: false,
      ocsp_query_all_servers: false,
      ocsp_servers_override: null,
      policies: ['app'],
      required_extensions: null,
      token_bound_cidrs: [],
      token_explicit_max_ttl: 0,
      token_max_ttl: 3600,
      token_no_default_policy: false,
      token_num_uses: 0,
      token_period: 0,
      token_policies: ['app'],
      token_strictly_bind_ip: false,
      token_ttl: 60,
      token_type: 'default',
      ttl: 60,
    });
    await role('shown', { display_name: 'other' });
    expect((await root('GET', 'auth/cert/certs/shown')).json.data).toMatchObject({
      display_name: 'other',
      token_policies: ['app'],
    });
    expect((await root('LIST', 'auth/cert/certs?after=sgown&limit=1')).json.data.keys).toEqual(['shown']);
    expect((await root('DELETE', 'auth/cert/certs/shown')).status).toBe(204);
    expect(outcome(await root('GET', 'auth/cert/certs/shown'))).toEqual([404, []]);
    expect(outcome(await root('LIST', 'auth/cert/certs'))).toEqual([404, []]);
  });

  const forServers = made.make('for-servers', { extensions: ['extendedKeyUsage=serverAuth'] });
  it.each([
    ['no certificate', {}, 'failed to parse certificate'],
    ['none in its text', { certificate: 'nonsense' }, 'failed to parse certificate'],
    ['a broken one', { certificate: ca.cert.replace(/A/, 'B') }, 'failed to parse certificate'],
    [
      'one that is for servers',
      { certificate: forServers.cert },
      'nonCA certificates should have TLS client authentication set as an extended key usage',
    ],
    [
      'times in the wrong order',
      { certificate: ca.cert, ttl: 60, max_ttl: 30 },
      'ttl should be shorter than max_ttl',
    ],
    ['questions to others', { certificate: ca.cert, ocsp_enabled: true }, 'OCSP is not supported'],
    ['their authorities', { certificate: ca.cert, ocsp_ca_certificates: ca.cert }, 'OCSP is not supported'],
    ['their servers', { certificate: ca.cert, ocsp_servers_override: ['http://o'] }, 'OCSP is not supported'],
    ['leniency in them', { certificate: ca.cert, ocsp_fail_open: true }, 'OCSP is not supported'],
    [
      'fewer attempts than none',
      { certificate: ca.cert, ocsp_max_retries: -1 },
      'ocsp_max_retries can not be a negative number',
    ],
    ['all of them at once', { certificate: ca.cert, ocsp_query_all_servers: true }, 'OCSP is not supported'],
    [
      'an extension without a value',
      { certificate: ca.cert, required_extensions: '1.2.3' },
      'required_extensions must be of the form oid:value, not "1.2.3"',
    ],
  ])('is not made with %s', async (_, body, message) => {
    const answer = await role('refused', body);
    expect(outcome(answer)).toEqual([400, [message]]);
    expect((await root('GET', 'auth/cert/certs/refused')).status).toBe(404);
  });

  it('is made where questions to others are off and empty', async () => {
    const off = {
      ocsp_ca_certificates: '',
      ocsp_enabled: false,
      ocsp_fail_open: false,
      ocsp_query_all_servers: false,
      ocsp_servers_override: [],
    };
    expect((await role('off', { certificate: ca.cert, ...off })).status).toBe(204);
    await root('DELETE', 'auth/cert/certs/off');
  });

  it('for longer than the mount allows is made, with a warning', async () => {
    const { status, json } = await role('long', {
      certificate: ca.cert,
      token_max_ttl: 3_600_000,
      token_ttl: 10,
    });
    expect([status, json.warnings]).toEqual([
      200,
      ['Given max_ttl of 3600000 seconds is greater than current mount/system default of 2764800 seconds'],
    ]);
    await root('DELETE', 'auth/cert/certs/long');
  });
});
