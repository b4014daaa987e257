import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, it } from 'vitest';
import { certificateWorld, outcome } from './certs.ts';

const { made, ca, web, root, enable, asClient } = certificateWorld();
const otherCa = made.authority('other', { subject: '/CN=ca' });
const middle = made.authority('middle', { by: ca });
const below = made.make('below', { by: middle });
const withChain = { cert: below.cert + middle.cert, key: below.key };
describe('a list of revoked certificates', () => {
  const revoked = made.make('revoked', { by: ca });

  it('keeps those out that it names, of its own authority, until it is gone', async () => {
    await enable('revoking');
    await root('POST', 'auth/revoking/certs/one', { certificate: ca.cert });
    await root('POST', 'auth/revoking/certs/pinned', { certificate: revoked.cert });
    const entry = async (name = '') => (await asClient(revoked, 'auth/revoking/login', { name })).status;
    expect([await entry(), await entry('pinned')]).toEqual([200, 200]);
    const serial = (await asClient(revoked, 'auth/revoking/login')).json.auth.metadata.serial_number;
    const crl = made.revocationList(ca, [revoked]);
    expect((await root('POST', 'auth/revoking/crls/Mine', { crl })).status).toBe(204);
    expect((await root('GET', 'auth/revoking/crls/mine')).json.data).toEqual({
      cdp: null,
      serials: { [serial]: {} },
    });
    expect((await root('LIST', 'auth/revoking/crls')).json.data.keys).toEqual(['mine']);
    expect([await entry(), await entry('one'), await entry('pinned')]).toEqual([400, 400, 400]);
    expect((await asClient(web, 'auth/revoking/login')).status).toBe(200);
    expect((await root('DELETE', 'auth/revoking/crls/mine')).status).toBe(204);
    expect(await entry()).toBe(200);
    const alien = made.revocationList(middle, [revoked]);
    await root('POST', 'auth/revoking/crls/alien', { crl: alien.replaceAll('\n', '\r\n') });
    expect(await entry()).toBe(200);
    for (const method of ['GET', 'DELETE']) {
      expect(outcome(await root(method, 'auth/revoking/crls/nosuch'))).toEqual([400, ['no such CRL nosuch']]);
    }
  });

  it('keeps out whom a revoked authority signed', async () => {
    await enable('above');
    await root('POST', 'auth/above/certs/one', { certificate: ca.cert });
    expect((await asClient(withChain, 'auth/above/login')).status).toBe(200);
    await root('POST', 'auth/above/crls/mine', { crl: made.revocationList(ca, [middle]) });
    expect((await asClient(withChain, 'auth/above/login')).status).toBe(400);
  });

  it.each([
    ['nothing', {}, "one of 'crl' or 'url' must be provided"],
    ['nonsense', { crl: 'nonsense' }, expect.stringMatching(/^failed to parse CRL: asn1: /)],
    ['a certificate', { crl: ca.cert }, expect.stringMatching(/^failed to parse CRL: asn1: /)],
    ['no address', { url: '' }, 'empty CRL url'],
    ['an address of another kind', { url: 'file:///etc/passwd' }, 'invalid CRL url'],
  ])('is not kept of %s', async (_, body, message) => {
    expect(outcome(await root('POST', 'auth/cert/crls/bad', body))).toEqual([400, [message]]);
  });

  it('is fetched, and over plain HTTP only taken of an authority that a role knows', async () => {
    let list = made.revocationList(ca, [revoked]);
    let status = 200;
    const issuer = createServer((_request, response) => response.writeHead(status).end(list)).listen(
      0,
      '127.0.0.1',
    );
    await new Promise((resolve) => issuer.once('listening', resolve));
    const url = `http://127.0.0.1:${(issuer.address() as AddressInfo).port}/list`;
    await enable('fetching');
    const follow = () => root('POST', 'auth/fetching/crls/mine', { url });
    expect(outcome(await follow())).toEqual([
      400,
      ['cannot use the CRL: no role trusts the CA that signed it, so it cannot be verified'],
    ]);
    await root('POST', 'auth/fetching/certs/one', { certificate: ca.cert });
    list = made.revocationList(otherCa, []);
    expect(outcome(await follow())).toEqual([
      400,
      ['cannot use the CRL: it is not signed by the CA that it names as its issuer'],
    ]);
    list = made.revocationList(ca, [revoked]);
    expect((await follow()).status).toBe(204);
    expect((await asClient(revoked, 'auth/fetching/login')).status).toBe(400);
    const { cdp } = (await root('GET', 'auth/fetching/crls/mine')).json.data;
    expect(cdp).toEqual({ url, valid_until: expect.stringMatching(/^20\d\d-.*Z$/) });
    const unheard = [503, [`failed to fetch the CRL from ${url}`]];
    for (const bad of [404, 302, 500]) {
      status = bad;
      expect(outcome(await follow())).toEqual(unheard);
    }
    status = 200;
    for (const other of ['x'.repeat(5 * 1024 * 1024), 'a page of the web', '']) {
      list = other;
      expect(outcome(await follow())).toEqual(unheard);
    }
    expect((await asClient(revoked, 'auth/fetching/login')).status).toBe(400);
    await new Promise((resolve) => issuer.close(resolve));
    expect(outcome(await follow())).toEqual(unheard);
  });

  it.each([
    'http://169.254.169.254/latest/meta-data/',
    'http://2852039166/',
    'http://[fe80::1]/list',
    'http://[::ffff:169.254.169.254]/list',
    'http://[fd00:ec2::254]/list',
  ])('is not fetched from where a machine is told its own secrets: %s', async (url) => {
    expect(outcome(await root('POST', 'auth/cert/crls/bad', { url }))).toEqual([
      503,
      [`failed to fetch the CRL from ${url}`],
    ]);
  });
});
