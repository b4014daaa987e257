import { describe, expect, it } from 'vitest';
import type { TokenIdentity } from '../../../src/access/access.ts';
import type { Admission } from '../../../src/access/quotas/quotas.ts';
import { CofferError, unavailable } from '../../../src/ground/errors.ts';
import type { AskedRequest, GuardedCore } from '../../../src/operations/pipeline/asked-request.ts';
import { isWelcome, judgeOf } from '../../../src/operations/pipeline/judge.ts';
import { type Scene, staged } from './stage.ts';

const MAY = ['update transit/x'];
const RECORDED = 'record response';
const config = (more: object = {}) =>
  ({
    enable_rate_limit_response_headers: false,
    enable_rate_limit_audit_logging: false,
    ...more,
  }) as Admission['config'];
const HEADERS = { enable_rate_limit_response_headers: true };
const rated = (isAllowed: boolean, resetsIn = 7) => ({
  isAllowed,
  limit: 10,
  left: isAllowed ? 3 : 0,
  resetsIn,
});

const done = async (admission: Scene['admission'], more: Scene = {}) => {
  const { answer, steps } = await staged({ rights: MAY, admission, ...more });
  return { answer, steps };
};

describe('a request within rate limits', () => {
  it('is looked at only where there are limits, and of the owner never', async () => {
    expect((await done(undefined)).steps).not.toContain('admit');
    expect((await done({ config: config(), rated: rated(true) })).steps[0]).toBe('admit');
    const owner = { asked: { byOwner: true }, operation: { withoutSecret: true } };
    expect((await done({ config: config(), rated: rated(false) }, owner)).answer).toBe('done');
  });

  it('is answered as usual, with the state of the limit where that is set', async () => {
    expect((await done({ config: config(), rated: rated(true) })).answer).toBe('done');
    expect((await done({ config: config(HEADERS), rated: rated(true) })).answer).toBe('done 10/3/7');
    expect((await done({ config: config(HEADERS) })).answer).toBe('done');
    const door = { told: undefined };
    expect((await done({ config: config(HEADERS), rated: rated(true) }, { door })).answer).toBe('done');
  });

  it('above one is refused before its token is looked at, and recorded where that is set', async () => {
    expect(await done({ config: config(), rated: rated(false) })).toEqual({
      answer: 'too often: 7',
      steps: ['admit'],
    });
    expect((await done({ config: config(HEADERS), rated: rated(false) })).answer).toBe('too often: 7 10/0/7');
    const audited = config({ enable_rate_limit_audit_logging: true });
    expect(await done({ config: audited, rated: rated(false) })).toEqual({
      answer: 'too often: 7',
      steps: ['admit', 'follow', RECORDED],
    });
    const fails = { [RECORDED]: unavailable('the disk is gone') };
    expect((await done({ config: audited, rated: rated(false) }, { fails })).answer).toBe(
      'unrecorded: unavailable: the disk is gone',
    );
  });

  it('is told to wait for a second at least, or that it is not welcome', async () => {
    expect((await done({ config: config(), rated: rated(false, 0) })).answer).toBe('too often: 1');
    const door = { tooOften: undefined };
    expect((await done({ config: config(), rated: rated(false) }, { door })).answer).toBe('unauthenticated');
  });

  it('is not answered where the limits cannot be read', async () => {
    expect(await done(unavailable('the disk is gone'))).toEqual({
      answer: 'unavailable: the disk is gone',
      steps: ['admit'],
    });
  });
});

describe('a login within rate limits of its role', () => {
  const login = (byRole: Admission['byRole'], more: object = {}) =>
    done({ config: config(HEADERS), byRole } as Admission, {
      operation: { unauthenticated: true, roleOf: async () => 'deploy', ...more },
    });

  it('is held to the limit of the role that it names, before it is run', async () => {
    const roles: (string | undefined)[] = [];
    const limited = (isAllowed: boolean) => (role: string | undefined) => {
      roles.push(role);
      return rated(isAllowed);
    };
    const refused = await login(limited(false));
    expect(refused.answer).toBe('too often: 7 10/0/7');
    expect(refused.steps).toEqual(['admit', 'follow', 'read', RECORDED]);
    const { answer, steps } = await login(limited(true));
    expect([answer, steps.includes('run'), roles]).toEqual(['done 10/3/7', true, ['deploy', 'deploy']]);
    await login(limited(true), { roleOf: undefined });
    expect(roles.at(-1)).toBeUndefined();
  });

  it('is free where no limit is for its role', async () => {
    expect((await login(() => undefined)).answer).toBe('done');
  });
});

describe('whoever asks', () => {
  const identity = (rights: readonly string[], more: object = {}): TokenIdentity =>
    ({
      accessor: 'a',
      acl: {
        allows: (path: string, wanted: string) => rights.includes(`${wanted} ${path}`),
        reaches: (path: string) => rights.some((right) => right.endsWith(` ${path}`)),
      },
      ...more,
    }) as unknown as TokenIdentity;
  const asking = (endpoint: object = {}, more: object = {}): AskedRequest =>
    ({
      token: 't',
      remoteAddress: '192.0.2.1',
      endpoint: {
        policyPrefix: 'api/v2/',
        capability: 'update',
        operation: { params: {} },
        policyPaths: async () => ({ paths: ['x', 'y'] }),
        ...endpoint,
      },
      ...more,
    }) as unknown as AskedRequest;

  it('is judged by all paths, with the prefix of the API', () => {
    const allows = (...rights: readonly string[]) =>
      judgeOf(asking(), identity(rights))?.allowsPaths(['x', 'y']);
    expect(allows('update api/v2/x', 'update api/v2/y')).toBe(true);
    expect([allows('update api/v2/x'), allows('update x', 'update y'), allows()]).toEqual([
      false,
      false,
      false,
    ]);
    const { caller } = judgeOf(asking(), identity(['read api/v2/x', 'list api/v2/o/'])) ?? {};
    expect([
      caller?.may('x', 'read'),
      caller?.may('x', 'update'),
      caller?.reaches('o'),
      caller?.reaches('x'),
    ]).toEqual([true, false, true, false]);
    expect(caller).toMatchObject({ id: 'a', accessor: 'a', token: 't' });
  });

  it('may come without a token to what is open to all, also if only another method is', () => {
    const of = (endpoint: object) => judgeOf(asking(endpoint), undefined)?.caller.isStranger;
    expect(of({ operation: { params: {}, unauthenticated: true } })).toBe(true);
    expect(of({ operation: { params: {}, strangers: true } })).toBe(true);
    expect(of({ operation: undefined, isOpenPath: true })).toBe(true);
    expect(of({ operation: undefined })).toBeUndefined();
    expect(of({ operation: { params: {} }, isOpenPath: true })).toBeUndefined();
  });

  it('is the owner by the door alone, and a login of the owner is still of nobody', () => {
    expect(judgeOf(asking({}, { byOwner: true }), undefined)?.caller.id).toBe('owner');
    const login = asking({ operation: { params: {}, unauthenticated: true } }, { byOwner: true });
    expect(judgeOf(login, undefined)?.caller).toMatchObject({ id: 'nobody', token: 't' });
  });

  it.each<[string, object, object, boolean]>([
    ['who may', {}, {}, true],
    ['without a token', {}, { token: undefined }, false],
    ['as the owner', {}, { byOwner: true }, false],
    ['who may only there, from elsewhere', { boundCidrs: ['198.51.100.0/24'] }, {}, false],
    ['from where the token is bound to', { boundCidrs: ['192.0.2.0/24'] }, {}, true],
    ['who may something else', { acl: identity(['read api/v2/x']).acl }, {}, false],
  ])('is welcome with a large body: %s', async (_, own, more, isWelcomed) => {
    const found = identity(['update api/v2/x', 'update api/v2/y'], own);
    const guarded = { core: {}, access: { identify: async () => found } } as unknown as GuardedCore;
    expect(await isWelcome(guarded, asking({}, more))).toBe(isWelcomed ? found : undefined);
    const nobody = { core: {}, access: { identify: async () => undefined } } as unknown as GuardedCore;
    expect(await isWelcome(nobody, asking({}, more))).toBeUndefined();
    const paths = { policyPaths: async () => ({ paths: ['x', 'y'], leadNowhere: true }) };
    expect(await isWelcome(guarded, asking(paths, more))).toBeUndefined();
  });

  it('has the values that are meant judged, without those that are none, and no defect hidden', () => {
    const meant: unknown[] = [];
    const acl = {
      allows: (_path: string, _wanted: string, sent: unknown, meaning?: () => unknown) => {
        meant.push([sent, meaning?.()]);
        return true;
      },
    };
    const params = {
      name: { parse: (value: unknown) => String(value).toLowerCase() },
      odd: {
        parse: () => {
          throw new CofferError('invalid', 'no');
        },
      },
      broken: {
        parse: () => {
          throw new TypeError('a defect');
        },
      },
    };
    const judge = judgeOf(asking({ operation: { params } }), identity([], { acl }));
    judge?.allows(['x'], 'update', { name: 'Ada', odd: 1, other: 2 });
    expect(meant).toEqual([[{ name: 'Ada', odd: 1, other: 2 }, { name: 'ada' }]]);
    expect(() => judge?.allows(['x'], 'update', { broken: 1 })).toThrow('a defect');
  });
});
