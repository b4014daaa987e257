import { openCore } from '../operations/core.ts';
import type { Runner } from '../operations/declaration/operation.ts';
import { ownerRunner } from '../operations/runner.ts';
import type { Credential } from '../store/slots/unlock.ts';
import type { Store } from '../store/store.ts';
import { openWith, unlockStore } from './secrets/unlock.ts';
import type { Session } from './session.ts';

/** Runs operations on the local store. A user who can unlock it is its owner and needs no token. */
export const openLocal = async (session: Session): Promise<Runner> =>
  runnerOf(
    session,
    await unlockStore(session, {
      async afterAsking(store) {
        const { offerAgent } = await import('./agent/unlock.ts');
        await offerAgent(session, store);
      },
    }),
  );

/** Runs operations on the local store with the given secrets, without prompts. */
export const openUnlocked = async (session: Session, credentials: readonly Credential[]): Promise<Runner> =>
  runnerOf(session, await openWith(session, credentials));

const runnerOf = ({ settings }: Session, store: Store): Runner => ownerRunner(openCore(store), settings);
