/** What tests start as a further process of a server. */
import { serveAsWorker } from '../../src/doors/http/worker.ts';

await serveAsWorker((line) => process.stderr.write(`${line}\n`));
