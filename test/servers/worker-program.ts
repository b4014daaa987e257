/** What tests start as a further process of a server. */
import { httpDoor } from '../../src/doors/http/http-door.ts';
import { serveAsWorker } from '../../src/service/worker.ts';

await serveAsWorker(httpDoor, (line) => process.stderr.write(`${line}\n`));
