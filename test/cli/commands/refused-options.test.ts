import { describe, expect, it } from 'vitest';
import { DirectoryHere } from '../directory-here.ts';
import { promptsDouble } from '../streams.double.ts';

describe('a server', () => {
  it.each([
    ['--tls-no-client-certs', '--tls-no-client-certs needs --tls-cert and --tls-key'],
    ['--tls-client-ca ca', '--tls-client-ca needs --tls-cert and --tls-key'],
    ['--tls-cert cert', '--tls-cert and --tls-key must be used together'],
    ['--tls-key key', '--tls-cert and --tls-key must be used together'],
    [
      '--address 127.0.0.1:1',
      '--address is the server that commands use (to listen on it, use --listen 127.0.0.1:1)',
    ],
    [
      '--address http://127.0.0.1:1',
      '--address is the server that commands use (to listen on it, use --listen 127.0.0.1:1)',
    ],
    ['--workers 0', '--workers: invalid value "0"'],
    ['--workers 1.5', '--workers: invalid value "1.5"'],
    ['--max-request-size 0', '--max-request-size: invalid value "0"'],
    ['--max-request-size 1234567890123456', '--max-request-size: invalid value "1234567890123456"'],
  ])('is not started with %s', async (options, said) => {
    const here = await DirectoryHere.withStore();
    expect(await here.refused(`serve ${options}`, 2)).toContain(`coffer: ${said}`);
  });
});

describe('a backup', () => {
  it('is neither printed on a terminal nor read from one', async () => {
    const here = await DirectoryHere.withStore();
    expect(await here.refused('store backup -', 2, { terminals: ['out'] })).toContain(
      'use the name of a file instead of -, or pipe the output into a program',
    );
    for (const line of ['store restore - --store other', 'store verify -'])
      expect(await here.refused(line, 2, { terminals: ['in'] })).toContain(
        'a backup cannot be read from a terminal',
      );
  });

  it('goes through pipes, and something else that is piped in is refused and creates nothing', async () => {
    const here = await DirectoryHere.withStore();
    const { exitCode, outBytes } = await here.run('store backup -');
    expect(exitCode).toBe(0);
    await here.ok('store verify -', { input: outBytes });
    await here.ok('store restore - --store other', { input: outBytes });
    expect(await here.ok('transit keys list --store other')).toBe('app');
    for (const input of [
      'x',
      'something else that is longer than its first bytes',
      outBytes.subarray(0, 100),
    ])
      expect((await here.run('store restore - --store third', { input })).exitCode).not.toBe(0);
    expect(await here.refused('transit keys list --store third', 3)).toContain('third');
  });
});

describe('unsealing a server', () => {
  const make = () => DirectoryHere.make({ COFFER_ADDR: 'http://127.0.0.1:1' });

  it.each(['', '\n', ' \n'])('needs a secret on standard input, where no terminal is: %j', async (input) => {
    expect(await make().refused('unseal', 2, { input })).toContain('no secret on standard input');
  });

  it('asks for the secret on a terminal, and fails where nobody can be asked', async () => {
    const prompts = promptsDouble(['share']);
    const { err } = await make().run('unseal', { terminals: ['in'], prompts });
    expect([prompts.asked, err.includes('connection refused')]).toEqual([
      ['Key, passphrase or recovery share'],
      true,
    ]);
    expect(await make().refused('unseal', 2, { terminals: ['in'] })).toContain(
      'cannot prompt for the secret',
    );
    const none = promptsDouble([]);
    await make().run('unseal --reset', { terminals: ['in'], prompts: none });
    expect(none.asked).toEqual([]);
  });
});
