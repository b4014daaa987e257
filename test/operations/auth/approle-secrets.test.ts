import { beforeAll, describe, expect, it } from 'vitest';
import { openCore } from '../../../src/operations/core.ts';
import type { Runner } from '../../../src/operations/declaration/operation.ts';
import { ownerRunner } from '../../../src/operations/runner.ts';
import { refused } from '../../refusal.ts';
import { memoryStore } from '../../store/memory-store.ts';

let runner: Runner;
beforeAll(async () => {
  runner = ownerRunner(openCore(await memoryStore()));
  await runner.run('auth enable', { path: 'approle', type: 'approle' });
  await runner.run('auth approle write', { role_name: 'r' }, 'auth/approle');
});

const make = (metadata: string) =>
  runner.run('auth approle secret-id', { role_name: 'r', metadata }, 'auth/approle');
async function metadataOf(metadata: string): Promise<unknown> {
  const { data } = await make(metadata);
  const { secret_id } = data as { readonly secret_id: string };
  const shown = await runner.run(
    'auth approle lookup-secret-id',
    { role_name: 'r', secret_id },
    'auth/approle',
  );
  return (shown.data as { readonly metadata: unknown }).metadata;
}

describe('the metadata of a secret ID', () => {
  it.each([
    ['{"a":"b","n":1,"yes":true}', { a: 'b', n: '1', yes: 'true' }],
    [' {} ', {}],
    ['', {}],
    ['a=b,c=d', { a: 'b', c: 'd' }],
  ])('is an object of texts, or pairs: %j', async (given, metadata) => {
    expect(await metadataOf(given)).toEqual(metadata);
  });

  it.each(['{"a":"b","c":{}}', '{"a":"b","c":null}', '{"a":["b"],"c":"d"}', '{"a":"b"', '{a}', 'none'])(
    'is refused as %j, also where only a part of it is none',
    async (given) => {
      expect(await refused(make(given))).toMatchObject({
        kind: 'invalid',
        message: 'failed to parse metadata: failed to parse the input: invalid <key,value> format',
        field: 'metadata',
      });
    },
  );
});
