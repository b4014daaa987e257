import { asCofferError, withOtherHint } from '../ground/errors.ts';
import type { CliShape, NewName, Operation, Outcome, Runner } from '../operations/declaration/operation.ts';
import { parseValues } from '../operations/declaration/params.ts';
import type { CalledOperation } from './file-as-key.ts';
import { type RawValues, resolved } from './files/operation-values.ts';
import { namesOtherServer } from './given.ts';
import type { Session } from './session.ts';
import { withPermission } from './with-permission.ts';

/**
 * Warns a user at a terminal of values that an operation accepted, but that are probably not meant.
 * @param place runner of the operation, and its mount if that is not the runner's
 */
export async function warnOfDoubts(
  session: Session,
  operation: Operation,
  values: RawValues,
  { runner, mount }: { readonly runner: Runner; readonly mount: string | undefined },
): Promise<void> {
  const { doubts } = operation.cli ?? {};
  const { streams, settings } = session;
  if (doubts === undefined || settings.quiet || !streams.err.isTerminal) return;
  const asking = await withPermission(session, runner, mount);
  for (const doubt of await doubts(values, asking).catch(() => [])) session.warn(doubt);
}

/** Runs an operation. Its warnings say more to a user at a terminal; scripts get those of the API. */
export async function runExplained(
  session: Session,
  operation: Operation,
  raw: RawValues,
  { runner, mount }: { readonly runner: Runner; readonly mount: string | undefined },
): Promise<Outcome<unknown>> {
  const outcome = await runner
    .run(operation, raw, mount)
    .catch((error: unknown) => explainMissing(error, session, operation, raw));
  if (namesOtherServer(session.environment) && (isChange(operation) || outcome.created))
    (await import('./other-server.ts')).warnOfChangeHere(session);
  const { warnings = [] } = outcome;
  const { explained } = operation.cli ?? {};
  const { streams, settings } = session;
  if (explained === undefined || warnings.length === 0) return outcome;
  if (settings.quiet || !streams.err.isTerminal) return outcome;
  const asking = await withPermission(session, runner, mount);
  return { ...outcome, warnings: await explained(warnings, asking).catch(() => warnings) };
}

const isChange = ({ capability, computes }: Operation): boolean =>
  !computes && capability !== 'read' && capability !== 'list';

/**
 * Adds how a script passes a secret to the error about one that is missing.
 * @throws it, and every other error unchanged
 */
function explainMissing(error: unknown, { prompts }: Session, { cli }: Operation, raw: RawValues): never {
  const { param = '', secret } = cli?.input ?? {};
  const known = asCofferError(error);
  const isMissing = known?.kind === 'invalid' && known.field === param && raw[param] === undefined;
  if (secret === undefined || !isMissing || known.hint !== undefined || prompts.available()) throw error;
  const noun = secret.toLowerCase();
  throw withOtherHint(
    known,
    `use - before the options to read the ${noun} from standard input, or --in FILE`,
  );
}

/**
 * Counts the objects that are already as requested, for the message on a terminal. For scripts only on a local store,
 * and only what a removal does not find: its name may be mistyped, and scripts send a server no additional requests.
 */
export async function countUnchanged(
  session: Session,
  { cli, route }: Operation,
  values: RawValues,
  { runner, mount }: { readonly runner: Runner; readonly mount: string | undefined },
): Promise<number> {
  const { streams, settings } = session;
  const isRemoval = [route].flat().some((path) => path.startsWith('DELETE '));
  const isLookedUp = streams.err.isTerminal || (settings.address === undefined && isRemoval);
  if (cli?.unchanged === undefined || settings.quiet || !isLookedUp) return 0;
  return cli.unchanged(values, await withPermission(session, runner, mount));
}

/**
 * Returns the objects that will be created implicitly: a mistyped name would otherwise create one silently. Scripts ask
 * a server nothing for that, and `createdBy` knows of keys afterwards.
 */
export async function createdByTheWay(
  session: Session,
  { cli, computes }: Operation,
  values: RawValues,
  runner: Runner,
): Promise<readonly NewName[]> {
  const { streams, settings } = session;
  const isLookedUp = streams.err.isTerminal || (settings.address === undefined && !computes);
  if (cli?.byTheWay === undefined || settings.quiet || !isLookedUp) return [];
  return cli.byTheWay(values, await withPermission(session, runner));
}

/**
 * Runs an operation that may create a key where nobody is asked whether that is meant. It first runs without creating
 * one, which takes no look-up if the key exists. Scripts send a server no additional requests.
 * @param value text after the name of the key, which may be the key if the two were exchanged; undefined if nothing was
 *   typed there, or if a new key is asked about
 * @throws `invalid` if they were
 */
export async function callInOrder<T>(
  session: Session,
  { operation, path }: CalledOperation,
  { raw, value }: { readonly raw: RawValues; readonly value: string | undefined },
  call: (raw: RawValues) => Promise<T>,
): Promise<T> {
  const mayCreate = Object.hasOwn(operation.params, NO_CREATE) && raw[NO_CREATE] === undefined;
  if (!mayCreate || value === undefined || session.settings.address !== undefined) return call(raw);
  try {
    return await call({ ...raw, [NO_CREATE]: true });
  } catch (error) {
    if (asCofferError(error)?.kind !== 'not-found') throw error;
  }
  await (await import('./misplaced.ts')).refuseExchanged(session, path, value);
  return call(raw);
}

/** Parameter of operations that create a key unless it is true. */
const NO_CREATE = 'no_create';

/** Returns the key that an operation on an existing key has created, according to its outcome. */
export function createdBy(
  { operation: { params, computes }, spec }: CalledOperation,
  { created }: Outcome<unknown>,
  values: RawValues,
): readonly NewName[] | undefined {
  const [name = ''] = spec.positional;
  const isNewKey = created && computes && params[name]?.cli.refersTo === 'key';
  return isNewKey ? [{ kind: 'key', name: String(values[name]) }] : undefined;
}

/** Fails for what will be refused anyway, as far as that can be found out. */
export async function foresee(
  session: Session,
  { cli }: Operation,
  values: RawValues,
  { runner, mount }: { readonly runner: Runner; readonly mount: string | undefined },
): Promise<void> {
  await unlessUnseen(async () => cli?.foresee?.(values, await withPermission(session, runner, mount)));
}

/**
 * Looks for what will be refused, as far as this store and this caller let it be seen.
 * @returns undefined if it could not be seen
 * @throws the refusal
 */
export async function unlessUnseen<T>(look: () => Promise<T>): Promise<T | undefined> {
  try {
    return await look();
  } catch (error) {
    const kind = asCofferError(error)?.kind;
    if (kind !== 'denied' && kind !== 'unavailable' && kind !== 'sealed') throw error;
    return undefined;
  }
}

/** Maximum number of calls that are looked at where the confirmation is missing anyway. */
const MOST_FORESEEN = 10;

/** Returns the function for the confirmation question; undefined if these values need no confirmation. */
export const questionOf = ({ cli = {} }: Operation, values: RawValues): CliShape<unknown>['confirm'] =>
  cli.asksFor?.(values) === false ? undefined : cli.confirm;

/**
 * Checks that confirmation is possible. If it is not, what would be refused anyway is reported first, as on a terminal;
 * of many calls, the first ones are looked at.
 * @param calls raw values of each call
 * @throws `invalid` if the user cannot be asked and `--yes` is not given
 */
export async function requireConsent(
  session: Session,
  operation: Operation,
  calls: readonly RawValues[],
  mount: string | undefined,
): Promise<void> {
  const runner = session.mayChange ? undefined : await session.runner().catch(() => undefined);
  if (runner !== undefined) {
    const asking = await withPermission(session, runner);
    for (const call of calls.slice(0, MOST_FORESEEN))
      await unlessUnseen(async () => {
        const raw = await resolved(operation, call, asking);
        const { values } = parseValues(operation.params, raw);
        await foresee(session, operation, values, { runner, mount });
        await questionOf(operation, values)?.(values, asking);
      });
  }
  session.requireConsent();
}
