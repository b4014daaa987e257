import { once } from 'node:events';
import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';

const JSON_API = 'application/vnd.api+json';

/** The plans that one could pay for. */
const PLANS = {
  data: [{ id: 'fs-1', type: 'feature-sets', attributes: { name: 'Business' } }],
  meta: { pagination: { 'current-page': 1, 'total-pages': 1, 'total-count': 1 } },
};

/**
 * Stands before the server and answers two paths of the paid service, by which the client's own tests give their organizations a plan. Everything else
 * goes to the server as it is.
 */
export async function startBilling(
  address: string,
): Promise<{ readonly address: string; stop(): Promise<void> }> {
  const server = createServer((incoming, outgoing) => {
    const { method = 'GET', url = '/', headers } = incoming;
    if (url.startsWith('/api/v2/admin/feature-sets')) {
      outgoing.writeHead(200, { 'content-type': JSON_API }).end(JSON.stringify(PLANS));
    } else if (/^\/api\/v2\/admin\/organizations\/[^/]+\/subscription$/.test(url)) {
      incoming.resume();
      outgoing.writeHead(204).end();
    } else {
      const onward = request(`${address}${url}`, { method, headers }, (answer) => {
        outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
        answer.pipe(outgoing);
      });
      onward.on('error', () => outgoing.destroy());
      incoming.pipe(onward);
    }
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    address: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async stop() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
