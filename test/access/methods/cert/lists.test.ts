import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { followList, keepList, readList, refreshLists } from '../../../../src/access/methods/cert/lists.ts';
import { certMounts } from '../../../../src/access/methods/cert/mount-type.ts';
import { writeRole } from '../../../../src/access/methods/cert/roles.ts';
import { der, TAG } from '../../../../src/ground/der.ts';
import { systemRandom } from '../../../../src/ground/random.ts';
import { Mounts } from '../../../../src/mounts/mounts.ts';
import { ClientCertificates } from '../../../reference/client-certificates.ts';
import { failureOf, openRoom } from '../../room.ts';

const made = new ClientCertificates();
const ca = made.authority('ca');
const revoked = made.make('revoked', { by: ca });

let served = '';
const issuer = createServer((_request, response) => response.end(served));
beforeAll(() => new Promise<void>((resolve) => void issuer.listen(0, '127.0.0.1', () => resolve())));
afterAll(() => {
  issuer.close();
  made.close();
});

const SINCE = '20260301000000Z';
const addressOf = (path: string) => `http://127.0.0.1:${(issuer.address() as AddressInfo).port}${path}`;

/** An empty list that says which certificates it is about (RFC 5280, 5.2.5). */
function partOf(about: { path?: string; authorities?: boolean; reasons?: boolean }): string {
  const { path, authorities, reasons } = about;
  const address = path === undefined ? [] : [der(0xa0, der(0xa0, der(0x86, Buffer.from(addressOf(path)))))];
  const scope = der(
    TAG.sequence,
    ...address,
    ...(authorities ? [der(0x82, Buffer.of(0xff))] : []),
    ...(reasons ? [der(0x83, Buffer.of(6, 0x40))] : []),
  );
  const extensions = [`2.5.29.28=critical,DER:${scope.toString('hex')}`, '2.5.29.20=ASN1:INTEGER:7'];
  return made.revocationList(ca, [], 2, { extensions });
}

async function openMount() {
  const { store, clock } = await openRoom();
  const mount = await new Mounts(store, systemRandom, [certMounts]).add('cert', 'auth/cert');
  const room = { store, clock, mount };
  await writeRole(room, 'one', { settings: { certificate: ca.cert }, token: {} });
  return room;
}

it.each([
  ['an older list of the same authority', () => made.revocationList(ca, [], 2, { since: '20260201000000Z' })],
  [
    'one that says only what changed',
    () => made.revocationList(ca, [], 2, { extensions: ['2.5.29.27=critical,ASN1:INTEGER:1'] }),
  ],
  ['one of its authorities alone', () => partOf({ authorities: true })],
  ['one of another address', () => partOf({ path: '/other' })],
  ['one of this address for some reasons only', () => partOf({ path: '/list', reasons: true })],
  [
    'one with a critical extension that nobody knows',
    () => made.revocationList(ca, [], 2, { extensions: ['1.2.3.4=critical,ASN1:NULL'] }),
  ],
])('a revoked certificate does not come back by %s', async (_, makeOther) => {
  const room = await openMount();
  served = made.revocationList(ca, [revoked], 2, { since: SINCE });
  await followList(room, 'mine', addressOf('/list'));
  const { serials } = await readList(room, 'mine');
  expect(serials).toHaveLength(1);
  room.clock.ms = Date.now() + 30 * 24 * 60 * 60 * 1000;
  served = makeOther();
  expect(await refreshLists(room)).toEqual([
    { name: 'mine', reason: expect.stringMatching(/^failed to parse CRL: (?:it|delta CRLs) /) },
  ]);
  expect((await readList(room, 'mine')).serials).toEqual(serials);
  served = made.revocationList(ca, []);
  expect(await refreshLists(room)).toEqual([]);
  expect((await readList(room, 'mine')).serials).toEqual([]);
});

it('a list of up to 8 MiB of text is read, and of a longer one nothing', async () => {
  const room = await openMount();
  const text = made.revocationList(ca, [revoked]);
  expect(await keepList(room, 'long', text.padEnd(8 * 1024 * 1024))).toEqual([]);
  expect((await readList(room, 'long')).serials).toHaveLength(1);
  expect(await failureOf(() => keepList(room, 'longer', text.padEnd(8 * 1024 * 1024 + 1)))).toEqual([
    'invalid',
    'failed to parse CRL: it is too long',
  ]);
  expect(await failureOf(() => readList(room, 'longer'))).toMatchObject(['invalid', 'no such CRL longer']);
});

it('certificates of a role have up to 262,144 characters', async () => {
  const room = await openMount();
  const role = (certificate: string) => writeRole(room, 'long', { settings: { certificate }, token: {} });
  expect(await role(ca.cert.padEnd(262_144, '\n'))).toEqual([]);
  expect(await failureOf(() => role(ca.cert.padEnd(262_145, '\n')))).toEqual([
    'invalid',
    'failed to parse certificate',
  ]);
});

it('a part of the lists of an authority is followed where it says that it lies, and kept with a warning', async () => {
  const room = await openMount();
  served = partOf({ path: '/list', authorities: true });
  await followList(room, 'part', addressOf('/list'));
  expect(await keepList(room, 'whole', made.revocationList(ca, [revoked]))).toEqual([]);
  expect(await keepList(room, 'part', served)).toEqual([
    'the CRL may not list all revoked certificates: it covers only some certificates of its CA',
  ]);
});
