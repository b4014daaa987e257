import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, it } from 'vitest';
import {
  followList,
  keepList,
  readList,
  refreshLists,
  removeList,
} from '../../../../src/access/methods/cert/lists.ts';
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
/** What happens while the issuer makes up its answer. */
let meanwhile = async (): Promise<void> => undefined;
const issuer = createServer((_request, response) => void meanwhile().then(() => response.end(served)));
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
    { name: 'mine', reason: expect.stringMatching(/^cannot use the CRL: (?:it|delta CRLs) /) },
  ]);
  expect((await readList(room, 'mine')).serials).toEqual(serials);
  served = made.revocationList(ca, []);
  expect(await refreshLists(room)).toEqual([]);
  expect((await readList(room, 'mine')).serials).toEqual([]);
});

it('a list is fetched again from the moment on at which it says that there will be another, and no text is', async () => {
  const room = await openMount();
  served = made.revocationList(ca, [revoked]);
  await followList(room, 'mine', addressOf('/list'));
  await keepList(room, 'text', served);
  const { source, serials } = await readList(room, 'mine');
  served = made.revocationList(ca, []);
  room.clock.ms = (source?.nextMs ?? 0) - 1;
  expect(await refreshLists(room)).toEqual([]);
  expect((await readList(room, 'mine')).serials).toEqual(serials);
  room.clock.ms += 1;
  expect(await refreshLists(room)).toEqual([]);
  expect((await readList(room, 'mine')).serials).toEqual([]);
  expect((await readList(room, 'text')).serials).toEqual(serials);
});

it('a list is signed by any of the authorities of its name, as when one of them has got another key', async () => {
  const room = await openMount();
  const renewed = made.authority('renewed', { subject: '/CN=ca' });
  const stranger = made.authority('stranger', { subject: '/CN=ca' });
  await writeRole(room, 'two', { settings: { certificate: renewed.cert }, token: {} });
  for (const by of [ca, renewed]) {
    served = made.revocationList(by, [revoked]);
    await followList(room, by.name, addressOf('/list'));
    expect((await readList(room, by.name)).serials).toHaveLength(1);
  }
  served = made.revocationList(stranger, []);
  expect((await failureOf(() => followList(room, 'ca', addressOf('/list'))))[1]).toContain(
    'is not signed by',
  );
  expect((await readList(room, 'ca')).serials).toHaveLength(1);
});

it('a list that is removed or replaced while it is fetched again stays so', async () => {
  const room = await openMount();
  served = made.revocationList(ca, []);
  await followList(room, 'removed', addressOf('/list'));
  await followList(room, 'replaced', addressOf('/list'));
  room.clock.ms = Date.now() + 30 * 24 * 60 * 60 * 1000;
  meanwhile = async () => {
    meanwhile = async () => undefined;
    await removeList(room, 'removed');
    await keepList(room, 'replaced', made.revocationList(ca, [revoked]));
  };
  expect(await refreshLists(room)).toEqual([]);
  expect((await failureOf(() => readList(room, 'removed')))[1]).toBe('no such CRL removed');
  expect((await readList(room, 'replaced')).serials).toHaveLength(1);
});

it('a list of up to 8 MiB of text is read, and of a longer one nothing', async () => {
  const room = await openMount();
  const text = made.revocationList(ca, [revoked]);
  expect(await keepList(room, 'long', text.padEnd(8 * 1024 * 1024))).toEqual([]);
  expect((await readList(room, 'long')).serials).toHaveLength(1);
  expect(await failureOf(() => keepList(room, 'longer', text.padEnd(8 * 1024 * 1024 + 1)))).toEqual([
    'invalid',
    'cannot use the CRL: its text is longer than 8388608 characters',
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

it('times of a role beyond those of its mount are kept with a warning for each', async () => {
  const room = await openMount();
  const mount = { ...room.mount, config: { default_lease_ttl: 10, max_lease_ttl: 20 } };
  const times = (token_ttl: number, token_max_ttl: number, token_period: number) =>
    writeRole({ ...room, mount }, 'times', {
      settings: { certificate: ca.cert },
      token: { token_ttl, token_max_ttl, token_period },
    });
  expect(await times(10, 20, 20)).toEqual([]);
  expect(await times(11, 21, 21)).toEqual([
    'Given ttl of 11 seconds is greater than current mount/system default of 10 seconds',
    'Given max_ttl of 21 seconds is greater than current mount/system default of 20 seconds',
    "Given period of 21 seconds is greater than the backend's maximum TTL of 20 seconds",
  ]);
  expect(await writeRole({ ...room, mount }, 'times', { settings: {}, token: {} })).toHaveLength(3);
});

it('a part of the lists of an authority is followed where it says that it lies, and kept with a warning', async () => {
  const room = await openMount();
  served = partOf({ path: '/list', authorities: true });
  await followList(room, 'part', addressOf('/list'));
  expect(await keepList(room, 'whole', made.revocationList(ca, [revoked]))).toEqual([]);
  expect(await keepList(room, 'part', served)).toEqual([
    'the CRL may be incomplete: it covers only some certificates of its CA',
  ]);
});
