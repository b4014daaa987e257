import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { binary, emptyPlace, MASTER_KEY, type Place, removePlace, type Target } from './harness.ts';

/** Commands that know no store and no key, but the address of a server and a token that may do everything. */
export const server: Target = {
  name: 'a server',
  remote: true,
  async start() {
    const bare = emptyPlace();
    const owner = bare.with({ COFFER_MASTER_KEY: MASTER_KEY });
    owner.ok('init');
    const token = owner.ok('token create --policy root');
    const { child, address } = await serve(owner);
    const place = bare.with({ COFFER_STORE: undefined, COFFER_ADDR: address, COFFER_TOKEN: token });
    return {
      place,
      async stop() {
        child.kill('SIGTERM');
        await once(child, 'exit');
        removePlace(bare);
      },
    };
  },
};

async function serve(owner: Place): Promise<{ readonly child: ChildProcess; readonly address: string }> {
  const child = spawn(process.execPath, [binary, 'serve', '--listen', '127.0.0.1:0', '-q'], {
    cwd: owner.directory,
    env: owner.environment(),
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const [first] = (await once(child.stdout, 'data')) as [Buffer];
  return { child, address: first.toString().trim() };
}
