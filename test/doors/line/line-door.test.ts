import { connect } from 'node:net';
import { join } from 'node:path';
import { type DoorClient, type DoorOutcome, type DoorRequest, describeDoor } from '../../contracts/door.ts';
import { type DoorWorld, serviceOf } from '../../contracts/door-world.ts';
import { lineDoor } from './line-door.ts';

const OUTCOMES: Readonly<Record<string, DoorOutcome>> = {
  denied: 'refused',
  'not-found': 'refused',
  sealed: 'sealed',
  failed: 'failed',
  unavailable: 'failed',
};

async function open(world: DoorWorld): Promise<DoorClient> {
  const service = await serviceOf(world);
  const socket = join(world.location, '..', world.isOpen ? 'open.sock' : 'sealed.sock');
  const door = await (await lineDoor()).open(service, { socket });
  return {
    async ask(request) {
      const text = await answerOn(socket, request);
      const { error } = JSON.parse(text) as { readonly error?: string };
      return { text, outcome: error === undefined ? 'done' : (OUTCOMES[error] ?? 'invalid') };
    },
    async close() {
      await door.close();
      await service.close();
    },
  };
}

function answerOn(
  socket: string,
  { method, path, token = '-', body = '', isHeldBack }: DoorRequest,
): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  let text = '';
  const connection = connect(socket, () => {
    connection.write(`${method} ${path} ${token} ${Buffer.byteLength(body)}\n`);
    if (!isHeldBack) connection.write(body);
  });
  connection.setEncoding('utf8');
  connection.on('data', (piece: string) => {
    text += piece;
  });
  connection.on('end', () => {
    connection.end();
    resolve(text);
  });
  connection.on('error', reject);
  return promise;
}

describeDoor('what the recipe for a door comes to', {
  api: 'vault',
  callers: 'bearers',
  escapes: 'none',
  open,
});
