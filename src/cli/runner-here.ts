import type { Runner } from '../operations/declaration/operation.ts';
import { givesSecret } from './secrets/secret-variables.ts';
import type { Session } from './session.ts';

/** Opens the local store, through its agent if there is one, even if a server is named. */
export async function openHere(session: Session): Promise<Runner> {
  // A secret in the environment takes precedence over an agent.
  if (givesSecret(session.environment)) return openStore(session);
  const { openInAgent } = await import('./runner-agent.ts');
  return (await openInAgent(session, openStore)) ?? openStore(session);
}

async function openStore(session: Session): Promise<Runner> {
  const { openLocal } = await import('./runner-local.ts');
  return openLocal(session);
}
