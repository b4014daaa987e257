import { expect, it } from 'vitest';
import { askingPermission } from '../../src/cli/server-permission.ts';
import { refused } from '../refusal.ts';
import { answeredSession } from './answering.ts';

it('what a command asks by itself is sent only as far as the policies of its token are known to allow it', async () => {
  const answered = async (capabilities: unknown, raw: Readonly<Record<string, unknown>>) => {
    const { session, calls } = answeredSession((name) =>
      name === 'sys capabilities-self' ? { capabilities } : {},
    );
    const outcome = askingPermission(await session.runner(), 'transit').run('transit keys read', raw);
    return { outcome, calls };
  };
  const denied = { kind: 'denied', message: 'permission denied', field: undefined };
  for (const capabilities of [['read'], ['root']]) {
    const { outcome, calls } = await answered(capabilities, { name: 'app' });
    expect(await outcome).toEqual({ data: {} });
    expect(calls).toEqual(['sys capabilities-self', 'an operation']);
  }
  for (const capabilities of [['update'], ['deny'], [], 'read', undefined]) {
    const { outcome, calls } = await answered(capabilities, { name: 'app' });
    expect(await refused(outcome)).toEqual(denied);
    expect(calls).toEqual(['sys capabilities-self']);
  }
  // Without the name, there is no path that a policy could be asked about.
  const { outcome, calls } = await answered(['root'], {});
  expect(await refused(outcome)).toEqual(denied);
  expect(calls).toEqual([]);
});
