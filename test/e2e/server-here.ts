import { serve } from '../../src/doors/http/serve.ts';
import { workerCommand } from '../servers/worker-command.ts';
import { emptyPlace, MASTER_KEY, removePlace, type Target } from './harness.ts';

/** As `server`, but within the process of the tests, where what V8 has compiled for one suite's server is there for the next one's. */
export const serverHere: Target = {
  name: 'a server',
  remote: true,
  async start(way = 'here') {
    const bare = emptyPlace({}, way);
    const owner = bare.with({ COFFER_MASTER_KEY: MASTER_KEY });
    await owner.ok('init');
    const token = await owner.ok('token create --policy root');
    const serving = await serve({
      location: bare.file('store'),
      credentials: [{ kind: 'raw', source: 'the test key', reveal: () => Buffer.from(MASTER_KEY, 'base64') }],
      listen: ['127.0.0.1:0'],
      workerCommand: workerCommand(),
      log: () => undefined,
    });
    return {
      place: bare.with({
        COFFER_STORE: undefined,
        COFFER_ADDR: serving.addresses[0],
        COFFER_TOKEN: token,
      }),
      async stop() {
        await serving.close();
        removePlace(bare);
      },
    };
  },
};
