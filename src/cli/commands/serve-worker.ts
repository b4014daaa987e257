import { serveAsWorker } from '../../doors/http/worker.ts';
import type { Command } from '../command.ts';
import { DONE } from '../exit-codes.ts';

/** The word that starts a further process of a server. */
export const SERVE_WORKER = 'serve-worker';

export const command: Command = {
  arguments: [],
  options: [],
  examples: [],
  async run(session) {
    await serveAsWorker((line) => session.streams.err.write(`${line}\n`));
    return DONE;
  },
};
