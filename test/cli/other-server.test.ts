import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runCommandLine } from '../../src/cli/command-line.ts';
import { MASTER_KEY } from '../e2e/harness.ts';
import { streamsDouble } from './streams.double.ts';

let directory = '';
beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'other-server-'));
});
afterAll(() => rmSync(directory, { recursive: true, force: true }));

const unnamed = () => ({
  COFFER_MASTER_KEY: MASTER_KEY,
  COFFER_STATE: 'none',
  HOME: directory,
  NO_COLOR: '1',
});

describe('VAULT_ADDR beside a local store', () => {
  it('is warned of on a terminal, unless the store is named', async () => {
    const run = async (line: string, onTerminal: boolean, name = 'VAULT_ADDR'): Promise<string> => {
      const streams = streamsDouble(onTerminal ? { terminals: ['out', 'err'], columns: 200 } : {});
      const home = { ...unnamed(), XDG_DATA_HOME: directory, [name]: 'http://127.0.0.1:8200' };
      await runCommandLine(line.split(' '), streams, home);
      return streams.written.err;
    };
    await run(`init --store ${join(directory, 'coffer')}`, false);
    for (const line of ['transit keys list', 'status']) {
      expect(await run(line, true)).toContain(
        'coffer: warning: VAULT_ADDR is set, but this uses the local store (for the server, use --address "$VAULT_ADDR" or set COFFER_ADDR)\n',
      );
      expect(await run(line, true, 'BAO_ADDR')).toContain('use --address "$BAO_ADDR"');
      expect(await run(line, false)).toBe('');
    }
    expect(await run('transit keys list', false)).toBe('');
    expect(await run(`transit keys list --store ${join(directory, 'coffer')}`, true)).not.toContain(
      'VAULT_ADDR',
    );
  });

  it('keeps no store from being created that is named, where there is none yet', async () => {
    const home = {
      ...unnamed(),
      XDG_DATA_HOME: join(directory, 'none'),
      VAULT_ADDR: 'http://127.0.0.1:8200',
    };
    const streams = streamsDouble();
    expect(await runCommandLine(['init'], streams, home)).toBe(2);
    expect(streams.written.err).toContain('--store DIR takes precedence over COFFER_ADDR and VAULT_ADDR');
    const named = ['init', '--store', join(directory, 'named')];
    expect(await runCommandLine(named, streamsDouble(), home)).toBe(0);
  });

  it('is not warned of if it is the address of the agent of this store', async () => {
    const home = { ...unnamed(), XDG_DATA_HOME: directory, XDG_RUNTIME_DIR: directory };
    const env = streamsDouble();
    await runCommandLine(['agent', 'env'], env, home);
    const [, own] = /VAULT_ADDR='(unix:.*)'/.exec(env.written.out) ?? [];
    expect(own).toContain(directory);
    const streams = streamsDouble({ terminals: ['out', 'err'] });
    await runCommandLine(['status'], streams, { ...home, VAULT_ADDR: own });
    expect(streams.written.err).toBe('');
  });
});
