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

  it('replaces the one of its name: what is not sent has its default again', async () => {
    const all = { path: 'auth/ci', role: 'build', interval: 60, block_interval: 7, inheritable: true };
    await write({ ...all, group_by: 'none' });
    expect(await kept()).toMatchObject({ ...all, path: 'auth/ci/', group_by: 'none' });
    await write({ path: 'transit' });
    const usual = { role: '', interval: 1, block_interval: 0, inheritable: false };
    expect(await kept()).toMatchObject({ ...usual, path: 'transit/' });
    expect(await kept()).not.toMatchObject({ group_by: expect.anything() });
    await write({ group_by: '' });
    expect(await kept()).toMatchObject({ path: '', inheritable: true, group_by: 'ip' });
    expect((await refused(write({ rate: undefined }))).message).toBe("'rate' is invalid");
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
    await write({ path });
    expect(await kept()).toMatchObject({ role: '' });
  });
});
