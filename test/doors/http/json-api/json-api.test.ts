import { beforeAll, describe, expect, it } from 'vitest';
import {
  cleanUpAfterAll,
  issueToken,
  send,
  setPolicy,
  startServer,
  type TestServer,
} from '../../../servers/serving.ts';
import { callerOf, MEDIA_TYPE, NOT_FOUND, named } from './api.ts';

let server: TestServer;
const afterwards = cleanUpAfterAll();
beforeAll(async () => {
  server = await startServer({}, afterwards);
  await call('POST', 'organizations', { data: { type: 'organizations', attributes: { name: 'acme' } } });
});

const call = callerOf(() => server);

async function newWorkspace(name: string, ...tags: string[]): Promise<string> {
  const { json, status } = await call('POST', 'organizations/acme/workspaces', {
    data: {
      type: 'workspaces',
      attributes: { name },
      relationships: { tags: { data: named(...tags) } },
    },
  });
  expect(status).toBe(201);
  return json.data.id;
}

describe('every answer of /api/v2', () => {
  it.each<[string, string]>([
    ['GET', 'ping'],
    ['GET', 'organizations/acme/tags'],
    ['GET', 'organizations/none/tags'],
    ['GET', 'nothing'],
    ['DELETE', 'organizations/none'],
  ])('to %s %s names the version of the API', async (method, path) => {
    expect((await call(method, path)).headers['tfp-api-version']).toBe('2.5');
    expect((await call(method, path, undefined, { as: null })).headers['tfp-api-version']).toBe('2.5');
  });

  it('has the media type without a charset', async () => {
    expect((await call('GET', 'organizations/acme/tags')).headers['content-type']).toBe(MEDIA_TYPE);
    expect((await call('GET', 'nothing')).headers['content-type']).toBe(MEDIA_TYPE);
  });

  it('to a ping is 204, also with a bad token', async () => {
    for (const as of [server.token, 'bad', null]) {
      expect(await call('GET', 'ping', undefined, { as })).toMatchObject({ status: 204, text: '' });
    }
  });
});

describe('media types', () => {
  const body = { data: [] };
  const path = 'organizations/acme/tags';

  it.each([
    [MEDIA_TYPE, 204],
    [`${MEDIA_TYPE};profile="http://example.com/p"`, 204],
    ['APPLICATION/VND.API+JSON', 204],
    ['application/json', 415],
    [`${MEDIA_TYPE}; charset=utf-8`, 204],
    [`${MEDIA_TYPE};charset="UTF-8";profile="http://example.com/p"`, 204],
    [`${MEDIA_TYPE}; charset=utf-8; ext="https://jsonapi.org/ext/atomic"`, 415],
    [`${MEDIA_TYPE}; charset=latin1`, 415],
    [`${MEDIA_TYPE}; charset=utf-8x`, 415],
    [`${MEDIA_TYPE};ext="https://jsonapi.org/ext/atomic"`, 415],
    ['nonsense', 415],
  ])('a change with %s is answered with %i', async (contentType, status) => {
    const reply = await call('DELETE', path, body, { headers: { 'content-type': contentType } });
    expect(reply.status).toBe(status);
    if (status === 415) {
      expect(reply.json).toEqual({
        errors: [
          {
            status: '415',
            title: 'unsupported media type',
            detail: expect.stringContaining(`Send ${MEDIA_TYPE}`),
            source: { header: 'Content-Type' },
          },
        ],
      });
    }
  });

  it('a deletion without a body needs none', async () => {
    const id = await newWorkspace('deleted-plainly');
    const { status } = await send(server.address, 'DELETE', `/api/v2/workspaces/${id}`, {
      headers: { authorization: `Bearer ${server.token}` },
    });
    expect(status).toBe(204);
  });

  it('a change without any is refused', async () => {
    const reply = await send(server.address, 'DELETE', `/api/v2/${path}`, {
      body,
      headers: { authorization: `Bearer ${server.token}` },
    });
    expect(reply.status).toBe(415);
  });

  it.each([
    ['', 200],
    ['*/*', 200],
    ['text/html', 200],
    [MEDIA_TYPE, 200],
    [`${MEDIA_TYPE};q=0.5, text/html`, 200],
    [`${MEDIA_TYPE};charset=utf-8, ${MEDIA_TYPE}`, 200],
    [`${MEDIA_TYPE};charset=utf-8`, 406],
    [`${MEDIA_TYPE};ext="x", ${MEDIA_TYPE};charset=utf-8`, 406],
  ])('a read that accepts %j is answered with %i', async (accept, status) => {
    expect((await call('GET', path, undefined, { headers: { accept } })).status).toBe(status);
  });
});

describe('a caller of /api/v2', () => {
  it.each([null, 'bad', ''])('without a good token (%j) gets 401 for whatever there is', async (as) => {
    for (const path of ['organizations/acme/tags', 'organizations/none/tags', 'nothing']) {
      const { status, text } = await call('GET', path, undefined, { as });
      expect([status, text]).toEqual([401, '{"errors":[{"status":"401","title":"unauthorized"}]}']);
    }
  });

  it('may bring the token in the headers of the other API', async () => {
    const { status } = await send(server.address, 'GET', '/api/v2/organizations/acme/tags', {
      token: server.token,
    });
    expect(status).toBe(200);
  });

  it('without rights can not tell what is there from what is not, byte for byte', async () => {
    await newWorkspace('hidden', 'secret');
    const tags = await call('GET', 'organizations/acme/tags?q=secret');
    const tag = tags.json.data[0].id;
    await setPolicy(
      server.directory,
      'other-org',
      'path "api/v2/organizations/other/*" { capabilities = ["read"] }',
    );
    const as = await issueToken(server.directory, { policies: ['other-org'], no_default_policy: true });
    const missingTag = `${tag.slice(0, -6)}zzzzzz`;
    const requests: readonly (readonly [string, string, unknown?])[] = [
      ['GET', 'organizations/acme/tags'],
      ['GET', 'organizations/none/tags'],
      ['GET', 'organizations/acme'],
      ['DELETE', 'organizations/acme'],
      ['DELETE', 'organizations/acme/tags', { data: 'broken' }],
      ['POST', `tags/${tag}/relationships/workspaces`, { data: [] }],
      ['POST', `tags/${missingTag}/relationships/workspaces`, { data: [] }],
      ['POST', 'tags/nonsense/relationships/workspaces', { data: [] }],
      ['POST', 'organizations', { data: {} }],
      ['GET', 'nothing/at/all'],
    ];
    const answers = await Promise.all(
      requests.map(([method, path, body]) => call(method, path, body, { as })),
    );
    const seen = answers.map(({ status, text, headers }) => {
      const { date: _date, ...others } = headers;
      return JSON.stringify([status, text, others]);
    });
    expect(new Set(seen).size).toBe(1);
    expect(answers[0]).toMatchObject({ status: 404, text: NOT_FOUND });
  });

  it('can not get around a rule by writing the path in another way', async () => {
    await setPolicy(
      server.directory,
      'all-but-acme',
      'path "api/v2/organizations/*" { capabilities = ["read"] } path "api/v2/organizations/acme/*" { capabilities = ["deny"] }',
    );
    const as = await issueToken(server.directory, { policies: ['all-but-acme'] });
    for (const name of ['acme', '%61cme', 'ac%6De']) {
      expect((await call('GET', `organizations/${name}/tags`, undefined, { as })).status).toBe(404);
    }
  });

  it('needs for an identifier the rights on its organization', async () => {
    const workspace = await newWorkspace('ruled', 'rule');
    const tag = (await call('GET', 'organizations/acme/tags?q=rule')).json.data[0].id;
    await setPolicy(
      server.directory,
      'acme',
      'path "api/v2/organizations/acme/*" { capabilities = ["create", "read", "update", "delete", "list"] }',
    );
    const as = await issueToken(server.directory, { policies: ['acme'] });
    const attach = { data: [{ type: 'workspaces', id: workspace }] };
    expect((await call('POST', `tags/${tag}/relationships/workspaces`, attach, { as })).status).toBe(204);
    expect((await call('GET', `workspaces/${workspace}`, undefined, { as })).status).toBe(200);
  });
});

describe('an identifier in the query', () => {
  it('never stands in for what the path names, in another organization least of all', async () => {
    for (const name of ['mine', 'theirs']) {
      await call('POST', 'organizations', { data: { type: 'organizations', attributes: { name } } });
    }
    const made = { type: 'workspaces', attributes: { name: 'web' } };
    const theirs = (await call('POST', 'organizations/theirs/workspaces', { data: made })).json.data.id;
    const pool = await call('POST', 'organizations/theirs/tags', { data: named('secret') });
    const tag = pool.json.data[0].id;
    await setPolicy(
      server.directory,
      'mine',
      'path "api/v2/organizations/mine/*" { capabilities = ["create", "read", "update", "delete", "list"] }',
    );
    const as = await issueToken(server.directory, { policies: ['mine'] });
    const change = { data: { type: 'workspaces', attributes: { description: 'changed' } } };
    const workspace = `organizations/mine/workspaces/web`;
    for (const [method, path, body] of [
      ['GET', `${workspace}?workspace_id=${theirs}`],
      ['PATCH', `${workspace}?workspace_id=${theirs}`, change],
      ['DELETE', `${workspace}?workspace_id=${theirs}`],
      ['POST', `${workspace}/actions/safe-delete?workspace_id=${theirs}`],
      ['GET', `organizations/mine/tags/secret?tag_id=${tag}`],
      ['GET', 'organizations/mine/tags/secret?organization_name=theirs'],
      ['GET', `tags/${tag}?organization_name=mine`],
    ] as const) {
      const { status, text } = await call(method, path, body, { as });
      expect([method, path, status, text]).toEqual([method, path, 404, NOT_FOUND]);
    }
    const untouched = await call('GET', `workspaces/${theirs}`);
    expect([untouched.status, untouched.json.data.attributes.description]).toEqual([200, null]);
  });
});

describe('documents of /api/v2', () => {
  it('have absolute links to the host that the caller named', async () => {
    const { json } = await call('GET', 'organizations/acme/tags', undefined, {
      headers: { host: 'tags.example:8443' },
    });
    expect(json.links.self).toBe(
      'http://tags.example:8443/api/v2/organizations/acme/tags?page%5Bnumber%5D=1&page%5Bsize%5D=20',
    );
  });

  it.each(['evil"><script>', 'a b', 'user@host', 'host/path', ''])(
    'have links to the listener when the host is %j',
    async (host) => {
      const { json, status } = await call('GET', 'organizations/acme/tags', undefined, { headers: { host } });
      expect([status, json.links.self.startsWith(`${server.address}/api/v2/`)]).toEqual([200, true]);
    },
  );

  it('are also for clients that write the whole address in the request, whose host counts', async () => {
    const { token } = server;
    for (const [begin, host] of [
      ['http://tags.example:8443', 'http://tags.example:8443'],
      ['HTTPS://tags.example', 'http://tags.example'],
      ['http://user@host', server.address],
    ]) {
      const target = `${begin}/api/v2/organizations/acme/tags?q=none`;
      const { json, status } = await send(server.address, 'GET', target, { token });
      expect([target, status, json?.links.self.split('/api/')[0]]).toEqual([target, 200, host]);
    }
    const sent = { token, body: { input: 'YQ==' } };
    const hashed = await send(server.address, 'POST', 'http://x/v1/transit/hash', sent);
    expect([hashed.status, typeof hashed.json.data.sum]).toEqual([200, 'string']);
    for (const target of ['http://x', 'http://x?help=1', '*', 'ftp://x/v1/sys/health']) {
      expect([target, (await send(server.address, 'GET', target)).status]).toEqual([target, 404]);
    }
  });

  it('are 201 for what was made, 204 for what has nothing to show', async () => {
    expect(await call('POST', 'organizations/acme/tags', { data: named('made') })).toMatchObject({
      status: 201,
      json: { data: [{ type: 'tags', attributes: { name: 'made', 'instance-count': 0 } }] },
    });
    expect(await call('DELETE', 'organizations/acme/tags', { data: [] })).toMatchObject({
      status: 204,
      text: '',
    });
  });

  it.each<[string, unknown, number, object]>([
    ['not JSON', '{"data":', 400, { title: 'bad request', detail: 'The body is not a JSON object.' }],
    ['an array', '[]', 400, { title: 'bad request', detail: 'The body is not a JSON object.' }],
    ['without data', {}, 422, { title: 'invalid attribute', source: { pointer: '/data' } }],
    ['of another type', { data: [{ type: 'x', id: 'y' }] }, 422, { source: { pointer: '/data/0/type' } }],
    ['without an id', { data: [{ type: 'tags' }] }, 422, { source: { pointer: '/data/0/id' } }],
  ])('that are %s are refused', async (_what, body, status, error) => {
    const reply = await call('DELETE', 'organizations/acme/tags', body);
    expect(reply.status).toBe(status);
    expect(reply.json.errors).toEqual([expect.objectContaining({ status: String(status), ...error })]);
  });

  it('name the pointer of an attribute that can not be', async () => {
    const { status, json } = await call('POST', 'organizations/acme/tags', {
      data: named('fine', 'not fine'),
    });
    expect(status).toBe(422);
    expect(json.errors[0].source).toEqual({ pointer: '/data/1/attributes/name' });
  });

  it('are not asked for by requests without a body, though they name a media type', async () => {
    const workspace = await newWorkspace('short-lived');
    expect(await call('DELETE', `workspaces/${workspace}`)).toMatchObject({ status: 204 });
    expect(await call('GET', `workspaces/${workspace}`)).toMatchObject({ status: 404, text: NOT_FOUND });
  });

  it.each(['organizations/../tags', 'tags', 'organizations//tags'])(
    'are not found under %s',
    async (path) => {
      expect(await call('GET', path)).toMatchObject({ status: 404, text: NOT_FOUND });
    },
  );
});

it.each(['organizations/%zz/tags', 'organizations/%ff/tags'])(
  '/api/v2 refuses the path %s, whose escapes are no UTF-8',
  async (path) => {
    const { status, json } = await call('GET', path);
    expect([status, json.errors[0].detail]).toEqual([400, 'the path is not percent-encoded UTF-8']);
  },
);

/** What the tests of the real service's own client ask of a server. */
describe('the pool over /api/v2', () => {
  const pool = async (query = '') => (await call('GET', `organizations/pool/tags${query}`)).json;

  it('does what real clients expect of it', async () => {
    await call('POST', 'organizations', {
      data: {
        type: 'organizations',
        attributes: { name: 'pool', email: 'a@b.example', 'stacks-enabled': true },
      },
    });
    const created = await call('POST', 'organizations/pool/workspaces', {
      data: { type: 'workspaces', attributes: { name: 'one' } },
    });
    const one = created.json.data.id;
    const ten = Array.from({ length: 10 }, (_, index) => `tag${index}`);
    const tagged = await call('POST', `workspaces/${one}/relationships/tags`, { data: named(...ten) });
    expect(tagged.status).toBe(204);
    const all = await pool();
    expect(all.data).toHaveLength(10);
    for (const tag of all.data) {
      expect(tag.attributes['instance-count']).toBe(1);
      expect(tag.relationships.organization.data).toEqual({ id: 'pool', type: 'organizations' });
    }
    // An exclusion by something that is no workspace excludes nothing.
    const excluded = await pool(
      `?page%5Bsize%5D=5&filter%5Bexclude%5D%5Btaggable%5D%5Bid%5D=${all.data[0].id}`,
    );
    expect([excluded.data.length, excluded.meta.pagination['total-count']]).toEqual([5, 10]);
    expect((await pool('?q=tag3')).data).toHaveLength(1);
    const five = all.data.slice(0, 5).map(({ id }: { id: string }) => ({ type: 'tags', id }));
    expect((await call('DELETE', 'organizations/pool/tags', { data: five })).status).toBe(204);
    expect((await pool()).data).toHaveLength(5);
    // Names that nobody has are no error when they are taken off.
    expect(
      (await call('DELETE', `workspaces/${one}/relationships/tags`, { data: named('tag9', 'nobody') }))
        .status,
    ).toBe(204);
    const of = await call('GET', `workspaces/${one}/relationships/tags`);
    expect(of.json.data.map((tag: { attributes: { name: string } }) => tag.attributes.name)).toEqual([
      'tag5',
      'tag6',
      'tag7',
      'tag8',
    ]);
    const beyond = await pool('?page[number]=999&page[size]=100');
    expect([beyond.data, beyond.meta.pagination['current-page']]).toEqual([[], 999]);
  });
});
