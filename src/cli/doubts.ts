import type { Operation, Outcome, Runner } from '../operations/declaration/operation.ts';
import type { RawValues } from './files/operation-values.ts';
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
  const outcome = await runner.run(operation, raw, mount);
  const { warnings = [] } = outcome;
  const { explained } = operation.cli ?? {};
  const { streams, settings } = session;
  if (explained === undefined || warnings.length === 0) return outcome;
  if (settings.quiet || !streams.err.isTerminal) return outcome;
  const asking = await withPermission(session, runner, mount);
  return { ...outcome, warnings: await explained(warnings, asking).catch(() => warnings) };
}
