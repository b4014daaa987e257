import { it } from 'vitest';
import { send, startServer } from './serving.ts';

it('smoke', async () => {
  const s = await startServer();
  console.log(s.addresses, s.log);
  const show = async (m: string, p: string, o = {}) => {
    const r = await send(s.address, m, p, { token: s.token, ...o });
    console.log(m, p, r.status, r.text.slice(0, 500), JSON.stringify(r.headers));
    return r;
  };
  await show('GET', '/v1/sys/health');
  await show('GET', '/v1/sys/seal-status');
  await show('POST', '/v1/transit/keys/foo');
  await show('POST', '/v1/transit/encrypt/foo', { body: { plaintext: 'aGVsbG8=', foo: 1 } });
  await show('GET', '/v1/transit/keys?list=true');
  await show('GET', '/v1/transit/keys/bar');
  await show('GET', '/v1/auth/token/lookup-self');
  await show('GET', '/v1/nope/x');
  await show('GET', '/v1/transit/keys');
  await show('GET', '/v1/transit/nope');
  await show('GET', '/v1/sys/mounts');
  await show('POST', '/api/v2/organizations', {
    headers: { 'content-type': 'application/vnd.api+json' },
    body: { data: { type: 'organizations', attributes: { name: 'acme', email: 'a@b.c' } } },
  });
  await show('GET', '/api/v2/organizations/acme/tags');
  await show('GET', '/api/v2/organizations/acme2/tags');
  await show('GET', '/api/v2/ping');
  await show('GET', '/v1/sys/metrics');
  await show('GET', '/v1/sys/internal/specs/openapi');
  await show('GET', '/docs');
  console.log(s.log);
}, 30000);
