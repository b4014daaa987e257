import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { openCore } from '../../../src/operations/core.ts';
import { type Runner, resultOf } from '../../../src/operations/declaration/operation.ts';
import { ownerRunner } from '../../../src/operations/runner.ts';
import { refused } from '../../refusal.ts';
import { memoryStore } from '../../store/memory-store.ts';

const LIMIT = 'sys/quotas/rate-limit/one';

describe('a rate limit that is written', () => {
  let owner: Runner;
  beforeAll(async () => {
    owner = ownerRunner(openCore(await memoryStore()));
    await owner.at({ method: 'POST', path: 'sys/auth/ci', parameters: { type: 'approle' } });
  });
  beforeEach(async () => {
    await owner.at({ method: 'DELETE', path: LIMIT, parameters: {} });
  });

  const write = (parameters: object) =>
    owner.at({ method: 'POST', path: LIMIT, parameters: { rate: 1, ...parameters } });
  const kept = async () => resultOf(await owner.at({ method: 'GET', path: LIMIT, parameters: {} }));

  it('keeps how requests are counted, until that is set to the default or to something else', async () => {
    const groupOf = async (parameters: object) => {
      await write(parameters);
      return ((await kept()) as { readonly group_by?: string }).group_by;
    };
    expect(await groupOf({ group_by: 'none' })).toBe('none');
    expect(await groupOf({})).toBe('none');
    expect(await groupOf({ group_by: '' })).toBe('ip');
    expect(await groupOf({ group_by: 'none' })).toBe('none');
    expect(await groupOf({ group_by: 'ip' })).toBe('ip');
  });

  it.each([
    ['', ''],
    ['transit', 'transit/'],
    ['/transit/', 'transit/'],
    ['transit*', 'transit*'],
    ['transit/encrypt/Orders', 'transit/encrypt/Orders'],
    ['auth/ci', 'auth/ci/'],
    ['auth/ci/role/BUILD', 'auth/ci/role/build'],
    ['sys', 'sys/'],
    ['auth/token', 'auth/token/'],
    ['auth/token/create', 'auth/token/create'],
    ['api/v2', 'api/v2'],
    ['api/v2/organizations', 'api/v2/organizations'],
  ])('has the path %j as %j', async (path, shown) => {
    await write({ path });
    expect(await kept()).toMatchObject({ path: shown, inheritable: path === '' });
  });

  it.each(['transitx', 'nowhere', 'nowhere*', 'transi', 'auth/c', 'sysx', 'auth', 'api'])(
    'is refused with the path %j, at which nothing is',
    async (path) => {
      expect(await refused(write({ path }))).toEqual({
        kind: 'invalid',
        message: `invalid mount path "${path}/"`,
        field: 'path',
      });
    },
  );

  it.each([
    ['', 'invalid mount path "/"'],
    ['transit', 'a role needs the path of a login method'],
    ['auth/ci/login', 'a role needs the path of a login method'],
  ])('has a role only at a login method, not at %j', async (path, message) => {
    expect((await refused(write({ path, role: 'Build' }))).message).toBe(message);
    await write({ path: 'auth/ci', role: 'Build' });
    expect(await kept()).toMatchObject({ path: 'auth/ci/', role: 'build' });
    // The role that it has counts as well.
    if (path !== '') expect((await refused(write({ path }))).message).toBe(message);
  });
});
