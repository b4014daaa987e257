import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { followList, readList, refreshLists } from '../../../../src/access/methods/cert/lists.ts';
import { writeRole } from '../../../../src/access/methods/cert/roles.ts';
import { ClientCertificates } from '../../../reference/client-certificates.ts';
import { openRoom } from '../../room.ts';

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

it.each([
  ['an older list of the same authority', () => made.revocationList(ca, [], 2, { since: '20260201000000Z' })],
  [
    'one that says only what changed',
    () => made.revocationList(ca, [], 2, { extensions: ['2.5.29.27=critical,ASN1:INTEGER:1'] }),
  ],
])('a revoked certificate does not come back by %s', async (_, makeOther) => {
  const { store, clock } = await openRoom();
  const mount = {
    path: 'auth/cert',
    type: 'cert',
    uuid: 'one',
    description: '',
    accessor: '',
    options: {},
  };
  const room = { store, clock, mount };
  await writeRole(room, 'one', { settings: { certificate: ca.cert }, token: {} });
  served = made.revocationList(ca, [revoked], 2, { since: SINCE });
  const { port } = issuer.address() as AddressInfo;
  await followList(room, 'mine', `http://127.0.0.1:${port}/list`);
  const { serials } = await readList(room, 'mine');
  expect(serials).toHaveLength(1);
  clock.ms = Date.now() + 30 * 24 * 60 * 60 * 1000;
  served = makeOther();
  expect(await refreshLists(room)).toEqual([
    { name: 'mine', reason: expect.stringMatching(/^failed to parse CRL: it /) },
  ]);
  expect((await readList(room, 'mine')).serials).toEqual(serials);
  served = made.revocationList(ca, []);
  expect(await refreshLists(room)).toEqual([]);
  expect((await readList(room, 'mine')).serials).toEqual([]);
});
