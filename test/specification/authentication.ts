import { ok } from 'node:assert/strict';
import { send } from '../servers/serving.ts';
import { issuedFor } from './callers.ts';
import { document, organization } from './organizations.ts';
import { ask, type Chapter, expectLike, outcomeOf, overHttp } from './row.ts';
import { HttpSide } from './sides.ts';

export const authentication: Chapter = {
  title: 'Authentication and media types',
  rows: [
    overHttp('a request of the tags API without a token is refused', async (side) => {
      const reply = await document(side, 'GET', 'organizations/nobody/tags', undefined, {
        authorization: 'Bearer ',
      });
      ok(reply.status === 401 || reply.status === 404);
    }),
    overHttp('a token in Authorization: Bearer counts', async (side) => {
      const { organization_name } = await organization(side, 0);
      ok((await document(side, 'GET', `organizations/${organization_name}/tags`)).status === 200);
    }),
    overHttp('documents are of the type application/vnd.api+json', async (side) => {
      const { organization_name } = await organization(side, 0);
      const reply = await document(side, 'GET', `organizations/${organization_name}/tags`);
      ok(String(reply.headers['content-type']).startsWith('application/vnd.api+json'));
    }),
    overHttp('a request of transit without a token is refused', async (side) => {
      ok(side instanceof HttpSide);
      ok((await send(side.server.address, 'GET', '/v1/transit/keys/x')).status === 403);
    }),
    overHttp('a token in X-Service-Token counts', async (side) => {
      ok(side instanceof HttpSide);
      const { address, token } = side.server;
      const reply = await send(address, 'POST', '/v1/transit/random', {
        headers: { 'x-service-token': token },
      });
      ok(reply.status === 200);
    }),
    overHttp('a policy on a path says who may use it', async (side) => {
      const caller = await issuedFor(side, 'path "transit/random" { capabilities = ["update"] }');
      await ask(caller, 'random', {});
      ok('refusal' in (await outcomeOf(caller, 'list', {})));
    }),
    overHttp('successful answers of transit have their content in data', async (side) => {
      ok(side instanceof HttpSide);
      expectLike((await side.reply('random', {})).json, { data: { random_bytes: /./ } });
    }),
    overHttp('the API of transit is below /v1', async (side) => {
      ok(side instanceof HttpSide);
      const { address, token } = side.server;
      ok((await send(address, 'POST', '/v2/transit/random', { token })).status === 404);
    }),
    overHttp('the API of tags is below /api/v2', async (side) => {
      ok(side instanceof HttpSide);
      const { address, token } = side.server;
      ok((await send(address, 'GET', '/api/v1/organizations', { token })).status === 404);
    }),
    overHttp('a request of more than 32 MiB is refused', async (side) => {
      ok(side instanceof HttpSide);
      const { address, token } = side.server;
      const reply = await send(address, 'POST', '/v1/transit/hash', {
        token,
        headers: { 'content-length': String(33 * 2 ** 20) },
      }).catch(() => ({ status: 413 }));
      ok(reply.status === 413);
    }),
  ],
};
