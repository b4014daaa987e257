import { asCofferError, CofferError, throwing } from '../ground/errors.ts';
import { asksAgain, type Operation, type Runner, STORE_SECRET } from '../operations/declaration/operation.ts';
import { parseValues } from '../operations/declaration/params.ts';
import { loadOperation } from '../operations/runner.ts';
import { findAgent } from './agent/find.ts';
import { unlessUnseen } from './doubts.ts';
import type { RawValues } from './files/operation-values.ts';
import type { Session } from './session.ts';
import { withPermission } from './with-permission.ts';

/** Reason for asking again. */
const WHY = 'because what this command prints or allows can be used even while the store is locked';

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
    session.remark(`The store is unlocked, but its secret is needed again, ${WHY}.`);
    return outside().catch(throwing((error) => saying(`the store must be unlocked again, ${WHY}`, error)));
  };
  /** Fails for what will be refused anyway, as far as the agent can tell, before the secret is asked for. */
  const foresee = async ({ cli, params }: Operation, raw: RawValues, mount?: string): Promise<void> => {
    await unlessUnseen(async () =>
      cli?.foresee?.(parseValues(params, raw).values, await withPermission(session, inside, mount)),
    );
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
      if (!asksAgain(declaration, raw)) return orHere((runner) => runner.run(declaration, raw, mount));
      await foresee(declaration, raw, mount);
      return (await again()).run(declaration, raw, mount);
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
