/**
 * A server in a process of its own, for tests that watch it from outside: `server-program.ts OPTIONS`, where OPTIONS are
 * those of `serve` as JSON. The master key comes in the environment. Prints its addresses, one a line.
 */
import { serve } from '../../src/doors/http/serve.ts';
import { MASTER_KEY_VARIABLE } from './worker-command.ts';

const reveal = (): Buffer => Buffer.from(process.env[MASTER_KEY_VARIABLE] ?? '', 'base64');
const serving = await serve({
  credentials: [{ kind: 'raw', source: 'the test key', reveal }],
  log: (line) => process.stderr.write(`${line}\n`),
  ...JSON.parse(process.argv[2] ?? '{}'),
});
process.stdout.write(`${serving.addresses.join('\n')}\n`);
process.once('SIGTERM', () => void serving.close());
