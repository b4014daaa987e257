import { request } from 'node:http';
import { httpDoor } from '../../../src/doors/http/http-door.ts';
import { DEFAULT_MAX_REQUEST_BYTES } from '../../../src/doors/http/listen-address.ts';
import { type ContractDoor, type DoorClient, describeDoor } from '../../contracts/door.ts';
import { serviceOf } from '../../contracts/door-world.ts';
import { outcomeOf, prefixOf, TYPE_OF } from './door-outcomes.ts';

type Api = ContractDoor['api'];

const door = (api: Api): ContractDoor => ({
  api,
  callers: 'bearers',
  escapes: 'percent',
  async open(world): Promise<DoorClient> {
    const service = await serviceOf(world);
    const kind = await httpDoor();
    const listener = { host: '127.0.0.1', port: 0, maxRequestBytes: DEFAULT_MAX_REQUEST_BYTES };
    const opened = await kind.open(service, { listen: [listener] });
    const { hostname: host, port } = new URL(opened.addresses[0] ?? '');
    return {
      ask({ method, path, token, body, isHeldBack }) {
        const { promise, resolve, reject } = Promise.withResolvers<Awaited<ReturnType<DoorClient['ask']>>>();
        const headers: Record<string, string | number> =
          body === undefined
            ? {}
            : { 'content-type': TYPE_OF[api], 'content-length': Buffer.byteLength(body) };
        if (token !== undefined) headers['x-service-token'] = token;
        const asked = request({ host, port, method, path: prefixOf(api) + path, headers }, (answer) => {
          let text = '';
          answer.setEncoding('utf8');
          answer.on('data', (piece: string) => {
            text += piece;
          });
          answer.on('end', () => {
            asked.destroy();
            resolve({ text, outcome: outcomeOf(answer.statusCode ?? 0, text) });
          });
        });
        asked.on('error', reject);
        if (isHeldBack) asked.flushHeaders();
        else asked.end(body);
        return promise;
      },
      async close() {
        await opened.close();
        await service.close();
      },
    };
  },
});

describeDoor('/v1 over HTTP', door('vault'));
describeDoor('/api/v2 over HTTP', door('json-api'));
