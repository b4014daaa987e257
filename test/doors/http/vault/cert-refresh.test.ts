import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, it, onTestFinished, vi } from 'vitest';
import { certificateWorld } from './certs.ts';

/** A server looks every ten minutes; here, when the test says so. */
vi.useFakeTimers({ toFake: ['setInterval'] });
const tenMinutes = (): void => void vi.advanceTimersByTime(10 * 60 * 1000);

const { made, ca, web, root, enable, asClient, logged } = certificateWorld();
const revoked = made.make('revoked', { by: ca });

it('a list of revoked certificates is fetched again by the server when it is out of date, and stays when that fails', async () => {
  let list = made.revocationList(ca, [], 0);
  let status = 200;
  const issuer = createServer((_request, response) => response.writeHead(status).end(list));
  issuer.listen(0, '127.0.0.1');
  onTestFinished(() => void issuer.close());
  await once(issuer, 'listening');
  const url = `http://127.0.0.1:${(issuer.address() as AddressInfo).port}/list`;
  await enable('listed');
  await root('POST', 'auth/listed/certs/one', { certificate: ca.cert });
  expect((await root('POST', 'auth/listed/crls/mine', { url })).status).toBe(204);
  const entry = async () => (await asClient(revoked, 'auth/listed/login')).status;
  const validUntil = async () =>
    Date.parse((await root('GET', 'auth/listed/crls/mine')).json.data.cdp.valid_until);
  const outOfDate = async () => vi.waitUntil(async () => Date.now() > (await validUntil()), 10_000);
  expect(await entry()).toBe(200);

  list = made.revocationList(ca, [revoked], 0);
  await outOfDate();
  tenMinutes();
  await vi.waitUntil(async () => (await entry()) === 400, 10_000);
  expect((await asClient(web, 'auth/listed/login')).status).toBe(200);

  status = 404;
  await outOfDate();
  tenMinutes();
  const isTold = () => logged().some((line) => line.includes('cannot refresh a CRL'));
  await vi.waitUntil(isTold, 10_000);
  expect(logged().join('\n')).toContain('auth/listed/crls/mine');
  expect(await entry()).toBe(400);

  status = 200;
  list = made.revocationList(ca, [], 2);
  tenMinutes();
  await vi.waitUntil(async () => (await entry()) === 200, 10_000);
});
