/**
 * The server under test as a program: `http-server.ts DIRECTORY WORKERS AUDIT_FILE` serves a store with the master key
 * in the environment and prints its port; `http-server.ts worker` is what it starts as further processes.
 */
import { serve } from '../src/http/serve.ts';
import { serveAsWorker } from '../src/http/worker.ts';
import { parseMasterKey } from '../src/store/master-key.ts';

const [directory = '', workers = '1', auditFile = ''] = process.argv.slice(2);
const log = (line: string): boolean => process.stderr.write(`${line}\n`);

if (directory === 'worker') await serveAsWorker(log);
else {
  const reveal = () => parseMasterKey(process.env['COFFER_MASTER_KEY'] ?? '');
  const { addresses } = await serve({
    directory,
    credentials: [{ kind: 'raw', source: 'the environment', reveal }],
    listen: ['127.0.0.1:0'],
    workers: Number(workers),
    auditFile,
    workerCommand: [process.argv[1] ?? '', 'worker'],
    log: () => undefined,
  });
  process.stdout.write(`${new URL(addresses[0] ?? '').port}\n`);
}
