import { openCore } from '../operations/core.ts';
import { owner } from '../operations/declaration/operation.ts';
import { parseValues } from '../operations/declaration/params.ts';
import { openStore } from '../store/open.ts';
import type { Credential } from '../store/slots/credential.ts';
import type { Store } from '../store/store.ts';
import type { Runner } from './runner.ts';
import { unlockStore } from './secrets/unlock.ts';
import type { Session } from './session.ts';

/** Runs operations on the local store. Whoever can unlock it is its owner and needs no token. */
export const openLocal = async (session: Session): Promise<Runner> =>
  runnerOf(session, await unlockStore(session));

/** The same with secrets at hand; nobody is asked. */
export const openUnlocked = async (session: Session, credentials: readonly Credential[]): Promise<Runner> =>
  runnerOf(session, await openStore({ directory: session.settings.storeDirectory, credentials }));

function runnerOf(session: Session, store: Store): Runner {
  const core = openCore(store);
  return {
    run: (operation, raw, mount = session.settings.mount) =>
      operation.run({ core, caller: owner, mount }, parseValues(operation.params, raw).values),
    close: () => store.close(),
  };
}
