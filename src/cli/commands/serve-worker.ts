import { httpDoor } from '../../doors/http/http-door.ts';
import { serveAsWorker } from '../../service/worker.ts';
import type { OwnCommand } from '../command.ts';

/** Command that starts another process of a server. */
export const SERVE_WORKER = 'serve-worker';

export const command: OwnCommand = {
  async run(session) {
    await serveAsWorker(httpDoor, (line) => session.streams.err.write(`${line}\n`));
  },
};
