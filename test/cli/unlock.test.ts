import { describe, expect, it } from 'vitest';
import { outputOf } from '../../src/cli/secrets/secret-sources.ts';

describe('the command that prints the master key', () => {
  const environment = {
    PATH: process.env['PATH'],
    COFFER_STORE: '/srv/store',
    COFFER_MASTER_KEY: 'secret',
    COFFER_MASTER_KEY_FILE: '/srv/key',
    COFFER_PASSPHRASE: 'secret',
    COFFER_NEW_PASSPHRASE: 'secret',
    COFFER_TOKEN: 'secret',
  };

  it('gets the environment, but none of the other secrets in it', () => {
    const seen = outputOf('env', environment).toString().split('\n');
    expect(seen).toContain('COFFER_STORE=/srv/store');
    expect(seen).toContain('COFFER_MASTER_KEY_FILE=/srv/key');
    expect(seen.filter((line) => line.includes('secret'))).toEqual([]);
  });
});
