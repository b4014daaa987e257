import os from 'node:os';
import { afterEach, expect, it, vi } from 'vitest';
import { withoutSecrets } from '../../../src/cli/agent/start.ts';
import { resolveSettings } from '../../../src/cli/settings.ts';

afterEach(() => void vi.restoreAllMocks());

it('an agent in the background needs neither the location of its store in its environment nor a home directory', () => {
  vi.spyOn(os, 'userInfo').mockImplementation(() => {
    throw new Error('no such user');
  });
  const given = { COFFER_STORE: 'postgres://ada:secret@host/db', COFFER_TOKEN: 'secret', LANG: 'C' };
  const environment = withoutSecrets(given, given.COFFER_STORE);
  expect(JSON.stringify(environment)).not.toContain('secret');
  expect(environment['LANG']).toBe('C');
  const { address, token } = resolveSettings(new Map(), { ...environment, VAULT_ADDR: 'http://x' });
  expect([address, token]).toEqual([undefined, { kind: 'none' }]);
});
