import { describe, expect, it } from 'vitest';
import { openRunner } from '../../src/cli/command-line.ts';
import { Session } from '../../src/cli/session.ts';
import { promptsDouble, streamsDouble } from './streams.double.ts';

describe('a command that works against a server', () => {
  async function saidFor(address: string, options: Record<string, true> = {}): Promise<string> {
    const streams = streamsDouble();
    const everywhere = new Map(Object.entries({ address, ...options }));
    const session = new Session(streams, { COFFER_TOKEN: 't' }, everywhere, promptsDouble(), openRunner);
    // Nothing is sent before the first operation runs.
    await session.runner();
    await session.runner();
    await session.close();
    return streams.written.err;
  }

  it('warns once when others on the network can read along', async () => {
    const address = 'http://coffer.example:8200';
    expect(await saidFor(address)).toBe(
      `coffer: warning: the connection to ${address} is not encrypted: the token and data can be read on the network\n`,
    );
    expect(await saidFor(address, { quiet: true })).toBe('');
  });

  it('takes a token with a line end of another system, and none that no request could carry', async () => {
    const runnerFor = (token: string) => {
      const everywhere = new Map(Object.entries({ address: 'http://127.0.0.1:1' }));
      return new Session(
        streamsDouble(),
        { COFFER_TOKEN: token },
        everywhere,
        promptsDouble(),
        openRunner,
      ).runner();
    };
    (await runnerFor('token\r\n')).close();
    await expect(runnerFor('tok\u20acn')).rejects.toMatchObject({
      kind: 'invalid',
      message: 'not a valid token',
      field: 'token',
    });
  });

  it.each(['http://127.0.0.1:8200', 'https://coffer.example', 'unix:/run/coffer.sock'])(
    'has nothing to say about %s',
    async (address) => {
      expect(await saidFor(address)).toBe('');
    },
  );
});
