import { once } from 'node:events';
import { createServer } from 'node:net';

/** Below those that the platform gives to whoever names none: so nobody gets the port of a server that is down for a moment. */
const FIRST = 15_000;
const BEHIND_LAST = 32_000;

/** Processes begin far from each other. */
const STRIDE = 37;

let next = (process.pid * STRIDE) % (BEHIND_LAST - FIRST);

/** A port of loopback that nobody listens on. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = FIRST + next;
    next = (next + 1) % (BEHIND_LAST - FIRST);
    if (await isFree(port)) return port;
  }
}

async function isFree(port: number): Promise<boolean> {
  const server = createServer();
  try {
    server.listen(port, '127.0.0.1');
    await once(server, 'listening');
    server.close();
    await once(server, 'close');
    return true;
  } catch {
    return false;
  }
}
