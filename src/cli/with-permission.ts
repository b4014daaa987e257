import type { Runner } from '../operations/declaration/operation.ts';
import type { Session } from './session.ts';

/** Returns a runner for questions that nobody typed: a server is not asked for what the caller may not see. */
export async function withPermission({ settings }: Session, runner: Runner): Promise<Runner> {
  if (settings.address === undefined) return runner;
  const { askingPermission } = await import('./server-permission.ts');
  return askingPermission(runner, settings.mount);
}
