import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, expect, it } from 'vitest';
import { openRunner } from '../../src/cli/command-line.ts';
import { Session } from '../../src/cli/session.ts';
import { promptsDouble, streamsDouble } from './streams.double.ts';

let answer = '';
const server = createServer((_, response) => {
  response.writeHead(403, { 'content-type': 'application/json' });
  response.end(JSON.stringify({ errors: [answer] }));
});
afterEach(() => void server.close());

it('names the source of a refused token, but not if a token that the request names is unknown', async () => {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const everywhere = new Map(Object.entries({ address }));
  const session = new Session(streamsDouble(), { VAULT_TOKEN: 't' }, everywhere, promptsDouble(), openRunner);
  const runner = await session.runner();
  const hintFor = async (text: string): Promise<string | undefined> => {
    answer = text;
    const asked = runner.at({ method: 'POST', path: 'auth/token/lookup', parameters: { token: 'x' } });
    return asked.then(
      () => undefined,
      (error: { readonly hint?: string }) => error.hint ?? '',
    );
  };
  expect(await hintFor('permission denied')).toContain('the token is from VAULT_TOKEN');
  expect(await hintFor('bad token')).not.toContain('VAULT_TOKEN');
  await session.close();
});
