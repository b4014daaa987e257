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
        'coffer: warning: VAULT_ADDR is set, but the command uses the local store, which takes precedence (for the server, use --address "$VAULT_ADDR" or set COFFER_ADDR)\n',
      );
      expect(await run(line, true, 'BAO_ADDR')).toContain('use --address "$BAO_ADDR"');
      expect(await run(line, false)).toBe('');
    }
    expect(await run('transit keys list', false)).toBe('');
    expect(await run(`transit keys list --store ${join(directory, 'coffer')}`, true)).not.toContain(
      'VAULT_ADDR',
    );
  });

  it('is warned of in scripts that change the local store', async () => {
    const run = async (line: string, more: Readonly<Record<string, string>> = {}): Promise<string> => {
      const streams = streamsDouble();
      const home = { ...unnamed(), XDG_DATA_HOME: directory, VAULT_ADDR: 'http://127.0.0.1:8200', ...more };
      expect(await runCommandLine(line.split(' '), streams, home), line).toBe(0);
      return streams.written.err;
    };
    const warning = /^coffer: warning: VAULT_ADDR is set, but the command uses the local store.*$/gm;
    for (const line of [
      'write -f transit/keys/raw',
      'write transit/encrypt/fresh plaintext=aGk=',
      'transit keys create own',
      'transit keys rotate own raw',
      'delete transit/keys/raw/soft-delete',
    ])
      expect((await run(line)).match(warning), line).toHaveLength(1);
    for (const line of [
      'write transit/encrypt/own plaintext=aGk=',
      'read transit/keys/own',
      'transit keys list',
      'transit encrypt own aGk=',
      'write -f transit/keys/quiet --quiet',
      `write -f transit/keys/named --store ${join(directory, 'coffer')}`,
    ])
      expect(await run(line), line).not.toContain('VAULT_ADDR');
    expect(await run('write -f transit/keys/server', { VAULT_ADDR: '' })).toBe('');
  });

  it('is named by scripts before an error that it may explain, once, and by commands that only a server has', async () => {
    const run = async (line: string, more: Readonly<Record<string, string>> = {}) => {
      const streams = streamsDouble();
      const home = { ...unnamed(), XDG_DATA_HOME: directory, VAULT_ADDR: 'http://127.0.0.1:8200', ...more };
      const exitCode = await runCommandLine(line.split(' '), streams, home);
      return { exitCode, err: streams.written.err };
    };
    const warning =
      'coffer: warning: VAULT_ADDR is set, but the command uses the local store, which takes precedence (for the server, use --address "$VAULT_ADDR" or set COFFER_ADDR)\n';
    const missing = await run('transit keys read nowhere');
    expect(missing.exitCode).toBe(3);
    expect(missing.err.split(warning)).toEqual(['', expect.stringContaining('key "nowhere" not found')]);
    expect((await run('read secret/data/app')).err).toContain(warning);
    expect((await run('transit keys list', { COFFER_MASTER_KEY: '' })).err).toContain(warning);
    expect((await run('transit keys read nowhere --quiet')).err).not.toContain('VAULT_ADDR');
    const store = `--store ${join(directory, 'coffer')}`;
    expect((await run(`transit keys read nowhere ${store}`)).err).not.toContain('VAULT_ADDR');
    for (const line of ['login', 'login userpass ada', 'logout', 'health', 'unseal', 'seal --yes'])
      expect(await run(line), line).toEqual({
        exitCode: 2,
        err: expect.stringMatching(
          /^coffer: no server .*VAULT_ADDR is not used, as a local store takes precedence: use --address "\$VAULT_ADDR" or set COFFER_ADDR\)\n$/,
        ),
      });
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
