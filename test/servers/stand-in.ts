import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll } from 'vitest';

/** What stands for a server while the tests of a file run: answers every request by a function. */
export function standInServer(answer: RequestListener): { readonly address: string } {
  const server = createServer(answer);
  beforeAll(async () => {
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
  });
  afterAll(() => void server.close());
  return {
    get address() {
      return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    },
  };
}
