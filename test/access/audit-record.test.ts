import { createHmac, createSecretKey } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type AuditedRequest, AuditRecorder } from '../../src/access/audit-record.ts';
import { ownWords } from '../../src/ground/errors.ts';
import { rounds } from '../long.ts';
import { FakeClock, openRoom } from './room.ts';

const KEY = Buffer.alloc(32, 7);
const recorder = new AuditRecorder(createSecretKey(KEY), new FakeClock());
const hidden = (text: string): string =>
  `hmac-sha256:${createHmac('sha256', KEY).update(text).digest('hex')}`;

const request: AuditedRequest = {
  id: 'b7c4f7c2-1111-4222-8333-123456789012',
  operation: 'update',
  path: 'transit/encrypt/orders',
  mountPoint: 'transit/',
  remoteAddress: '127.0.0.1',
};
const identity = { accessor: 'the-accessor', displayName: 'token-billing', policies: ['app', 'default'] };

describe('an audit record', () => {
  it('has the layout of the family, with every text of request and answer hashed', () => {
    const parameters = {
      plaintext: 'aGVsbG8=',
      key_version: 3,
      flag: true,
      none: null,
      batch_input: [{ plaintext: 'eA==' }],
    };
    const line = recorder.response(
      { ...request, token: 'cfr.secret', identity, parameters, isPlain: () => true },
      { status: 200, data: { ciphertext: 'service:v1:abc', key_version: 1 } },
    );
    expect(JSON.parse(line)).toEqual({
      time: '2026-01-02T03:04:05.000Z',
      type: 'response',
      auth: {
        client_token: hidden('cfr.secret'),
        accessor: 'the-accessor',
        display_name: 'token-billing',
        policies: ['app', 'default'],
        token_type: 'service',
      },
      request: {
        id: 'b7c4f7c2-1111-4222-8333-123456789012',
        operation: 'update',
        mount_point: 'transit/',
        path: 'transit/encrypt/orders',
        remote_address: '127.0.0.1',
        data: {
          plaintext: hidden('aGVsbG8='),
          key_version: 3,
          flag: true,
          none: null,
          batch_input: hidden('[{"plaintext":"eA=="}]'),
        },
      },
      response: { status: 200, data: { ciphertext: hidden('service:v1:abc'), key_version: 1 } },
    });
  });

  it.each([
    ['of a login with its role', { role_name: 'web' }, { metadata: { role_name: 'web' } }],
    ['of a token without metadata', null, {}],
    ['of a token with empty metadata', {}, {}],
  ])('shows the metadata %s as Vault does, in the clear', (_of, meta, members) => {
    const { auth } = JSON.parse(
      recorder.request({ ...request, token: 't', identity: { ...identity, meta } }),
    );
    const { accessor, policies } = identity;
    const known = { accessor, policies, display_name: 'token-billing', token_type: 'service' };
    expect(auth).toEqual({ client_token: hidden('t'), ...known, ...members });
  });

  it('of a request has no answer, and of a stranger only the token that was tried', () => {
    expect(JSON.parse(recorder.request({ ...request, token: 'wrong' }))).toEqual({
      time: '2026-01-02T03:04:05.000Z',
      type: 'request',
      auth: { client_token: hidden('wrong') },
      request: {
        id: request.id,
        operation: 'update',
        mount_point: 'transit/',
        path: 'transit/encrypt/orders',
        remote_address: '127.0.0.1',
      },
    });
    expect(JSON.parse(recorder.request(request))).toMatchObject({ auth: {} });
  });

  it('shows in clear what the mount names, at any depth, and hashes text by text what is beside it', () => {
    const parameters = {
      plaintext: 'aGVsbG8=',
      context: 'tenant-7',
      bits: 4111111111111111n,
      batch_input: [
        { plaintext: 'eA==', context: 'tenant-8', key_version: 3, none: null },
        { plaintext: 'eQ==', more: { context: ['a', { context: 'b', deep: 'c' }] } },
      ],
      others: [{ plaintext: 'eA==' }],
    };
    const shown = ['context', 'bits'];
    const { data } = JSON.parse(recorder.request({ ...request, parameters, shown })).request;
    expect(data).toEqual({
      plaintext: hidden('aGVsbG8='),
      context: 'tenant-7',
      bits: '4111111111111111',
      batch_input: [
        { plaintext: hidden('eA=='), context: 'tenant-8', key_version: hidden('3'), none: null },
        { plaintext: hidden('eQ=='), more: { context: ['a', { context: 'b', deep: hidden('c') }] } },
      ],
      others: hidden('[{"plaintext":"eA=="}]'),
    });
    const answer = { status: 200, data: { keys: ['orders', 'bills'], name: 'x', count: 2 } };
    const answered = (names?: readonly string[]) =>
      JSON.parse(recorder.response({ ...request, shown }, { ...answer, shown: names })).response.data;
    expect(answered(['keys'])).toEqual({ keys: ['orders', 'bills'], name: hidden('x'), count: 2 });
    expect(answered()).toEqual({ keys: hidden('["orders","bills"]'), name: hidden('x'), count: 2 });
  });

  it('tells the error of a failed request', () => {
    const line = recorder.response(request, { status: 403, error: 'permission denied' });
    expect(JSON.parse(line)).toMatchObject({ error: 'permission denied', response: { status: 403 } });
    expect(recorder.response(request, { status: 400, error: 'x'.repeat(100_000) }).length).toBeLessThan(3000);
  });

  it('hides what was sent as the name of a parameter but is none', () => {
    const namesOf = (parameters: Record<string, unknown>): string[] =>
      Object.keys(JSON.parse(recorder.request({ ...request, parameters })).request.data);
    const known = ['plaintext', 'batch_input', 'page[size]', 'search[wildcard-name]', 'auto-apply'];
    expect(namesOf(Object.fromEntries(known.map((name) => [name, 1])))).toEqual(known);
    const misplaced = [
      ' {"plaintext": "c2VjcmV0"}',
      'c2VjcmV0',
      'deadbeefdeadbeefdeadbeefdeadbeef',
      '__proto__',
    ];
    expect(namesOf(Object.fromEntries(misplaced.map((name) => [name, ''])))).toEqual(misplaced.map(hidden));
  });

  it('hides numbers and truth values that no parameter is declared to take', () => {
    const isPlain = (name: string): boolean => name === 'key_version';
    const parameters = {
      plaintext: 4111111111111111,
      key_version: 3,
      more: true,
      long: 4111111111111111111n,
    };
    const line = recorder.request({ ...request, parameters, isPlain });
    expect(JSON.parse(line).request.data).toEqual({
      plaintext: hidden('4111111111111111'),
      key_version: 3,
      more: hidden('true'),
      long: hidden('4111111111111111111'),
    });
    expect(JSON.parse(recorder.request({ ...request, parameters })).request.data.key_version).toBe(
      hidden('3'),
    );
  });

  it('hides what an error repeats of the request', () => {
    const errorOf = (error: string): unknown => {
      const parameters = { type: 'my secret', bits: 4111111111111111, name: 'x'.repeat(100) };
      return JSON.parse(recorder.response({ ...request, parameters }, { status: 400, error })).error;
    };
    expect(errorOf('type must be one of a, b, not "my secret"')).toBe(
      `type must be one of a, b, not "${hidden('my secret')}"`,
    );
    expect(errorOf('bits must be at most 512, not 4111111111111111')).toBe(
      `bits must be at most 512, not ${hidden('4111111111111111')}`,
    );
    expect(errorOf(`key name "${'x'.repeat(60)}…" is not allowed`)).not.toContain('xxxx');
    expect(errorOf('no key "orders" here, nor 512')).toBe('no key "orders" here, nor 512');
  });

  it('hides of what an error repeats nothing that is in clear beside it, and short values only where they are quoted', () => {
    const errorOf = (error: string, more: Partial<AuditedRequest>): unknown => {
      const parameters = { type: 'my secret', pin: '12', note: null, on: true };
      return JSON.parse(recorder.response({ ...request, parameters, ...more }, { status: 400, error })).error;
    };
    expect(errorOf('no "my secret"', { shown: ['type'] })).toBe('no "my secret"');
    expect(errorOf('no "my secret"', { shown: ['other'] })).toBe(`no "${hidden('my secret')}"`);
    expect(errorOf('12 of "12" are null or true', {})).toBe(`12 of "${hidden('12')}" are null or true`);
  });

  it('says null of a parameter without a value, and nothing of one that was not sent', () => {
    const parameters = { type: null, name: undefined, list: [null] };
    const { data } = JSON.parse(recorder.request({ ...request, parameters })).request;
    expect(data).toEqual({ type: null, list: hidden('[null]') });
  });

  it('hides what an error repeats of lists and objects, however deep, and of what JSON quotes', () => {
    const parameters = {
      aliases: ['first secret', { metadata: { 'the third secret': ['deep secret'] } }],
      quoted: 'a "quoted" secret\n',
    };
    const errorOf = (error: string): unknown =>
      JSON.parse(recorder.response({ ...request, parameters }, { status: 400, error })).error;
    expect(errorOf('no [first secret] nor "deep secret" of the third secret, but metadata')).toBe(
      `no [${hidden('first secret')}] nor "${hidden('deep secret')}" of ${hidden('the third secret')}, but metadata`,
    );
    expect(errorOf(`not ${JSON.stringify(parameters.quoted)}`)).toBe(`not "${hidden(parameters.quoted)}"`);
  });

  it('has an error of 2,048 characters whole, and of a longer one so many that no secret can begin behind', () => {
    const errorOf = (error: string): unknown =>
      JSON.parse(recorder.response(request, { status: 400, error })).error;
    expect(errorOf('e'.repeat(2048))).toBe('e'.repeat(2048));
    expect(errorOf('e'.repeat(2049))).toBe('e'.repeat(2032));
  });

  it('hides the beginning of a value that an error cuts short, or is cut short within', () => {
    const secret = Array.from({ length: 400 }, (_, index) => `${index}-`).join('');
    const errorOf = (error: string): string =>
      JSON.parse(recorder.response({ ...request, parameters: { secret } }, { status: 400, error })).error;
    for (const length of [16, 60, 64]) {
      const piece = secret.slice(0, length);
      expect(errorOf(`"${piece}" is no name`)).toBe(`"${hidden(piece)}" is no name`);
    }
    for (let before = 0; before < 100; before++) {
      const error = errorOf(`${' '.repeat(2000 + before)}${secret}`);
      expect(error).not.toMatch(/0-/);
    }
  });

  it('puts the hash of each value there once, and looks for nothing in hashes', () => {
    const pairs = Array.from({ length: 40 }, (_, index) => [
      [`a${index}`, index % 2 === 0 ? 'mac-' : 'hmac'],
      [`b${index}`, 'sha2'],
    ]).flat();
    const parameters = { ...Object.fromEntries(pairs), role: 'secret' };
    const line = recorder.response({ ...request, parameters }, { status: 400, error: 'no role "secret"' });
    expect(JSON.parse(line).error).toBe(`no role "${hidden('secret')}"`);
  });

  it('takes a parameter that means nothing to the operation for nothing that its error repeats', () => {
    const parameters = { role: 'orders', anything: 'could not be found' };
    const isKnown = (name: string): boolean => name === 'role';
    const error = 'role "orders" could not be found';
    const line = recorder.response({ ...request, parameters, isKnown }, { status: 400, error });
    expect(JSON.parse(line).error).toBe(`role "${hidden('orders')}" could not be found`);
  });

  it('keeps our own words, whatever was sent', () => {
    const words = ownWords('the made-up key is not to be used');
    const errorOf = (error: string, sent: string): unknown =>
      JSON.parse(recorder.response({ ...request, parameters: { sent } }, { status: 400, error })).error;
    for (const sent of [words, 'made-up', 'not to be used', 'the made-up key is']) {
      expect(errorOf(words, sent)).toBe(words);
      expect(errorOf(`1 error: ${words}.`, sent)).toBe(`1 error: ${words}.`);
    }
    const more = `x ${words} y`;
    expect(errorOf(`"${more}": ${words}`, more)).toBe(`"${hidden(more)}${words}${hidden(more)}": ${words}`);
  });

  it('tells a hundred members that mean nothing one by one, and those beyond by one hash', () => {
    const many = Object.fromEntries(Array.from({ length: 5000 }, (_, index) => [`a${index}`, `${index}`]));
    const parameters = { ...many, role_id: 'the role' };
    const isKnown = (name: string): boolean => name === 'role_id';
    const { data } = JSON.parse(recorder.request({ ...request, parameters, isKnown })).request;
    const others = Object.fromEntries(Object.entries(many).slice(100));
    expect(Object.keys(data)).toHaveLength(102);
    expect(data).toMatchObject({
      role_id: hidden('the role'),
      a0: hidden('0'),
      a99: hidden('99'),
      '…': hidden(JSON.stringify(others)),
    });
    const answer = JSON.parse(recorder.response(request, { status: 200, data: many }));
    expect(Object.keys(answer.response.data)).toHaveLength(101);
  });

  it('hides names of an answer that are like no parameter', () => {
    const line = recorder.response(request, {
      status: 200,
      data: { 'secret/4111': 1, capabilities: ['read'] },
    });
    expect(JSON.parse(line).response.data).toEqual({
      [hidden('secret/4111')]: 1,
      capabilities: hidden('["read"]'),
    });
  });

  it('hides tokens that stand in a path', () => {
    const pathOf = (path: string): unknown => JSON.parse(recorder.request({ ...request, path })).request.path;
    expect(pathOf('auth/token/lookup/cfr.0123456789abcdef')).toBe(
      `auth/token/lookup/${hidden('cfr.0123456789abcdef')}`,
    );
    expect(pathOf('hvs.0123456789abcdef/x')).toBe(`${hidden('hvs.0123456789abcdef')}/x`);
    expect(pathOf('auth/token/lookup/s.abcdefghijklmnopqrstuvwx')).toBe(
      `auth/token/lookup/${hidden('s.abcdefghijklmnopqrstuvwx')}`,
    );
    expect(pathOf('transit/keys/s.orders')).toBe('transit/keys/s.orders');
  });

  it('hides tokens in a path that an error quotes', () => {
    const errorOf = (error: string): unknown =>
      JSON.parse(recorder.response(request, { status: 404, error })).error;
    const token = 'cfr.0123456789abcdef';
    expect(errorOf(`no handler for route "auth/token/lookup/${token}". route entry not found.`)).toBe(
      `no handler for route "auth/token/lookup/${hidden(token)}". route entry not found.`,
    );
    expect(errorOf(`no handler for route "${token}".`)).toBe(`no handler for route "${hidden(token)}".`);
    expect(errorOf('cipher: message authentication failed. try again')).toBe(
      'cipher: message authentication failed. try again',
    );
  });

  it('does not confuse two tokens of one identity, nor two identities', () => {
    const authOf = (token: string, who: typeof identity): unknown =>
      JSON.parse(recorder.request({ ...request, token, identity: who })).auth;
    expect(authOf('a', identity)).toMatchObject({ client_token: hidden('a') });
    expect(authOf('b', identity)).toMatchObject({ client_token: hidden('b') });
    expect(authOf('a', { ...identity, accessor: 'x' })).toMatchObject({ accessor: 'x' });
  });

  it('hashes under a key of the store, the same for all who open it', async () => {
    const { access } = await openRoom();
    const [one, two] = [await access.auditRecorder(), await access.auditRecorder()];
    expect(one.hash('x')).toBe(two.hash('x'));
    expect(one.hash('x')).not.toBe((await (await openRoom()).access.auditRecorder()).hash('x'));
    expect(one.hash('x')).toMatch(/^hmac-sha256:[0-9a-f]{64}$/);
  });
});

/** A text that is in no record by chance. */
const secret = fc.string({
  minLength: 16,
  maxLength: 40,
  unit: fc.constantFrom(...'ABCXYZ+/="\\\u2028\n\u0000äß😀'),
});
const { anything } = fc.letrec<{ anything: unknown }>((tie) => ({
  anything: fc.oneof(
    { maxDepth: 3, depthSize: 'small' },
    secret,
    fc.array(tie('anything'), { maxLength: 3 }),
    fc.dictionary(fc.constantFrom('plaintext', 'input', 'a', '__proto__'), tie('anything'), { maxKeys: 3 }),
    fc.constantFrom(1, 4111111111111111n, true, null, undefined),
  ),
}));
const values = fc.dictionary(fc.constantFrom('plaintext', 'ciphertext', 'token', 'x'), anything, {
  maxKeys: 4,
});

function textsIn(value: unknown): string[] {
  if (typeof value === 'string') return [value];
  if (typeof value === 'bigint') return [String(value)];
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(textsIn) : [];
}

describe('whatever is in a request and its answer', () => {
  it('no text of it is in the record, which is one line of JSON', () => {
    fc.assert(
      fc.property(values, values, secret, (parameters, data, token) => {
        const line = recorder.response({ ...request, token, parameters }, { status: 200, data });
        expect(line).not.toMatch(/[\n\r]/);
        const printed = JSON.stringify(JSON.parse(line));
        for (const text of [token, ...textsIn(parameters), ...textsIn(data)]) {
          expect(line).not.toContain(text);
          expect(printed).not.toContain(JSON.stringify(text).slice(1, -1));
        }
      }),
      { numRuns: rounds(500) },
    );
  });
});
