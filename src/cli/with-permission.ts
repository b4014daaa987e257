import type { Runner } from '../operations/declaration/operation.ts';
import type { Session } from './session.ts';

/**
 * Returns a runner for requests that a command sends by itself: a server is not asked for anything that the caller may
 * not see.
 * @param mount mount of the operations, if it is not that of the runner
 */
export async function withPermission({ settings }: Session, runner: Runner, mount?: string): Promise<Runner> {
  const asking =
    settings.address === undefined
      ? runner
      : (await import('./server-permission.ts')).askingPermission(runner, settings.mount);
  if (mount === undefined) return asking;
  return { ...asking, run: (named, raw, at = mount) => asking.run(named, raw, at) };
}
