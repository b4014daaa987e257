import { expect, it } from 'vitest';
import { Doubts } from '../../src/cli/doubts.ts';
import { specOf } from '../../src/cli/parse/operation-spec.ts';
import { denied } from '../../src/ground/errors.ts';
import type { Runner } from '../../src/operations/declaration/operation.ts';
import { loadOperation } from '../../src/operations/runner.ts';
import { refused } from '../refusal.ts';
import { answeredSession } from './answering.ts';

it('a script that lacks only --yes is told so, and sends a server few requests, none of which is denied', async () => {
  const { session, calls } = answeredSession(
    (name) => {
      if (name === 'sys capabilities-self') return { capabilities: ['delete'] };
      throw denied('permission denied');
    },
    { address: 'http://127.0.0.1:1' },
  );
  const operation = await loadOperation('transit keys delete');
  const names = Array.from({ length: 1000 }, (_, index) => ({ name: `key-${index}` }));
  const lookingUp = {
    ...operation,
    cli: {
      ...operation.cli,
      confirm: async ({ name }: Readonly<Record<string, unknown>>, runner: Runner) => {
        await runner.run('transit keys read', { name });
        return '';
      },
    },
  };
  const resolving = {
    ...operation,
    cli: {
      ...operation.cli,
      resolve: async (raw: Readonly<Record<string, unknown>>, runner: Runner) => {
        await runner.run('transit keys read', { name: raw['name'] });
        return raw;
      },
    },
  };
  for (const asking of [lookingUp, resolving])
    expect(
      await refused(
        new Doubts(
          session,
          { path: [], operation: asking, spec: specOf(asking, undefined) },
          undefined,
        ).requireConsent(names),
      ),
    ).toMatchObject({
      kind: 'invalid',
      message: 'cannot prompt for confirmation',
    });
  expect([...new Set(calls)]).toEqual(['sys capabilities-self']);
  expect(calls.length).toBeLessThan(100);
});
