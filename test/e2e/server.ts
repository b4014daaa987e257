import { startServerProcess } from '../servers/server-process.ts';
import { binary, emptyPlace, MASTER_KEY, removePlace, type Target } from './harness.ts';

/** Commands that know no store and no key, but the address of a server and a token that may do everything. */
export const server: Target = {
  name: 'a server',
  remote: true,
  async start(way = 'here') {
    const bare = emptyPlace({}, way);
    const owner = bare.with({ COFFER_MASTER_KEY: MASTER_KEY });
    await owner.ok('init');
    const token = await owner.ok('token create --policy root');
    const running = await startServerProcess([binary, 'serve', '--listen', '127.0.0.1:0', '-q'], {
      directory: owner.directory,
      environment: owner.environment(),
    });
    const { address } = running;
    return {
      place: bare.with({ COFFER_STORE: undefined, COFFER_ADDR: address, COFFER_TOKEN: token }),
      async stop() {
        await running.stop();
        removePlace(bare);
      },
    };
  },
};
