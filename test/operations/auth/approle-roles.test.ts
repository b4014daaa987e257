import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { openCore } from '../../../src/operations/core.ts';
import { type Runner, resultOf } from '../../../src/operations/declaration/operation.ts';
import { ownerRunner } from '../../../src/operations/runner.ts';
import { refused } from '../../refusal.ts';
import { memoryStore } from '../../store/memory-store.ts';

describe('a single setting of a role', () => {
  let owner: Runner;
  const at = (method: 'GET' | 'POST' | 'DELETE', path: string, parameters = {}) =>
    owner.at({ method, path: `auth/ci/role/r${path}`, parameters });
  const read = async (word: string) => resultOf(await at('GET', `/${word}`));
  beforeAll(async () => {
    owner = ownerRunner(openCore(await memoryStore()));
    await owner.at({ method: 'POST', path: 'sys/auth/ci', parameters: { type: 'approle' } });
  });
  beforeEach(async () => {
    await at('DELETE', '');
    await at('POST', '');
  });

  it.each<[string, string, unknown, unknown, unknown]>([
    ['token-ttl', 'token_ttl', '1m', 60, 0],
    ['token-max-ttl', 'token_max_ttl', 90, 90, 0],
    ['token-num-uses', 'token_num_uses', 3, 3, 0],
    ['token-bound-cidrs', 'token_bound_cidrs', '10.0.0.0/8', ['10.0.0.0/8'], []],
    ['secret-id-num-uses', 'secret_id_num_uses', 4, 4, 0],
    ['secret-id-ttl', 'secret_id_ttl', '2m', 120, 0],
    ['secret-id-bound-cidrs', 'secret_id_bound_cidrs', '10.0.0.0/8', ['10.0.0.0/8'], null],
    ['policies', 'token_policies', 'a,b', ['a', 'b'], []],
    ['period', 'token_period', 60, 60, 0],
  ])('is read, set and set back alone: %s', async (word, member, given, kept, usual) => {
    expect(await read(word)).toMatchObject({ [member]: usual });
    await at('POST', `/${word}`, { [member]: given });
    expect(await read(word)).toMatchObject({ [member]: kept });
    const { message, kind } = await refused(at('POST', `/${word}`));
    expect([kind, message]).toEqual(['invalid', `missing ${member}`]);
    expect(await read(word)).toMatchObject({ [member]: kept });
    await at('DELETE', `/${word}`);
    expect(await read(word)).toMatchObject({ [member]: usual });
  });

  it.each([
    ['policies', 'token_policies', ['a']],
    ['period', 'token_period', 60],
  ])('that has an older name is told by both, if that was used: %s', async (word, member, value) => {
    await at('POST', `/${word}`, { [member]: value });
    expect(await read(word)).toEqual({ [member]: value });
    await at('POST', '', { [word]: value });
    expect(await read(word)).toEqual({ [word]: value, [member]: value });
  });

  it('is none of a role that is not there, and none without a name that a role knows', async () => {
    const elsewhere = (method: 'GET' | 'POST' | 'DELETE') =>
      owner.at({ method, path: 'auth/ci/role/gone/token-ttl', parameters: { token_ttl: 60 } });
    for (const method of ['GET', 'POST', 'DELETE'] as const) {
      expect((await refused(elsewhere(method))).kind).toMatch(/^(?:not-found|invalid)$/);
    }
    expect((await refused(at('GET', '/nothing'))).kind).toBe('not-found');
    expect((await refused(owner.at({ method: 'GET', path: 'auth/ci/role/gone', parameters: {} }))).kind).toBe(
      'not-found',
    );
  });
});
