import { asCofferError, CofferError } from '../ground/errors.ts';
import { asksAgain, type Runner, STORE_SECRET } from '../operations/declaration/operation.ts';
import { loadOperation } from '../operations/runner.ts';
import { findAgent } from './agent/find.ts';
import type { Session } from './session.ts';

/**
 * Runs operations in the agent, if one has the store open. Operations that the agent does not run (it has locked
 * meanwhile, or requires the secret again) are run by this command itself.
 * @param openStore opens the store by asking for its secret
 */
export async function openInAgent(
  session: Session,
  openStore: (session: Session) => Promise<Runner>,
): Promise<Runner | undefined> {
  const connection = await findAgent(session);
  if (connection === undefined) return undefined;
  const inside = connection.runner(session.settings);
  let opened: Promise<Runner> | undefined;
  const outside = (): Promise<Runner> => {
    opened ??= openStore(session);
    return opened;
  };
  const again = async (): Promise<Runner> => {
    session.remark('The result stays valid after a lock, so the secret is required again.');
    return outside().catch((error: unknown) => {
      throw saying("the result stays valid after a lock, so the store's secret is required", error);
    });
  };
  const orHere = async <T>(work: (runner: Runner) => Promise<T>): Promise<T> => {
    try {
      return await work(inside);
    } catch (error) {
      const { kind, field } = asCofferError(error) ?? {};
      if (field === STORE_SECRET) return work(await again());
      if (kind !== 'sealed') throw error;
      return work(await outside());
    }
  };
  return {
    async run(operation, raw, mount) {
      const declaration = typeof operation === 'string' ? await loadOperation(operation) : operation;
      return asksAgain(declaration, raw)
        ? (await again()).run(declaration, raw, mount)
        : orHere((runner) => runner.run(declaration, raw, mount));
    },
    at: (asked) => orHere((runner) => runner.at(asked)),
    organization: inside.organization,
    close() {
      inside.close();
      void opened?.then((runner) => runner.close()).catch(() => undefined);
    },
  };
}

/** Adds the reason for a prompt to the error if the user cannot be prompted. */
function saying(why: string, error: unknown): unknown {
  if (!(error instanceof CofferError) || error.kind !== 'sealed') return error;
  const { kind, hint, cause } = error;
  return new CofferError(kind, why, { hint, cause });
}
