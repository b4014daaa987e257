import { createPrivateKey } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { openRunner } from '../../src/cli/command-line.ts';
import { Session } from '../../src/cli/session.ts';
import { selfSigned, temporaryDirectory } from '../servers/serving.ts';
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

  /** Files for a client certificate, right and wrong. */
  function certificateFiles() {
    const directory = temporaryDirectory();
    const { certificateFile: certificate, keyFile: key } = selfSigned(directory);
    const write = (name: string, text: string): string => {
      const file = join(directory, name);
      writeFileSync(file, text, { mode: 0o600 });
      return file;
    };
    const locked = createPrivateKey(readFileSync(key)).export({
      format: 'pem',
      type: 'pkcs8',
      cipher: 'aes-256-cbc',
      passphrase: 'p',
    });
    return {
      certificate,
      key,
      otherKey: selfSigned(temporaryDirectory()).keyFile,
      locked: write('locked', locked.toString()),
      junk: write('junk', '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n'),
      text: write('text', 'text\n'),
    };
  }

  it.each([
    ['certificate', 'otherKey', 'otherKey is not the key of the certificate in certificate'],
    ['certificate', 'locked', 'no readable private key in locked'],
    ['certificate', 'text', 'no readable private key in text'],
    ['text', 'key', 'no certificate in text'],
    ['junk', 'key', 'no certificate in junk'],
  ] as const)('with the client certificate %s and the key %s says what is wrong', async (own, key, told) => {
    const files = certificateFiles();
    const everywhere = new Map([['address', 'https://127.0.0.1:1']]);
    const environment = { COFFER_TOKEN: 't', COFFER_CLIENT_CERT: files[own], COFFER_CLIENT_KEY: files[key] };
    const session = new Session(streamsDouble(), environment, everywhere, promptsDouble(), openRunner);
    const message = told.replaceAll(
      /otherKey|certificate$|locked|junk|text/g,
      (name) => files[name as 'text'],
    );
    await expect(session.runner()).rejects.toMatchObject({ kind: 'invalid', message });
  });

  it.each(['http://127.0.0.1:8200', 'https://coffer.example', 'unix:/run/coffer.sock'])(
    'has nothing to say about %s',
    async (address) => {
      expect(await saidFor(address)).toBe('');
    },
  );
});
