import { asCofferError, CofferError, placed } from '../ground/errors.ts';
import { type NewName, type Outcome, resultOf } from '../operations/declaration/operation.ts';
import type { Table } from '../operations/declaration/table.ts';
import { DONE, FAILED } from './exit-codes.ts';
import type { RawValues } from './files/operation-values.ts';
import { type OutputShape, rawLines } from './files/output.ts';

/** Steps that a command runs for each of several names. */
interface Steps {
  /** Whether users are asked before the operation runs, so that all names are resolved and asked about first. */
  readonly asks: boolean;
  /** Replaces names by the identifiers of the objects. */
  resolve(call: RawValues): Promise<RawValues>;
  /** Fails for what the operation will be refused for, as far as that can be found out. */
  foresee(raw: RawValues): Promise<void>;
  isConfirmed(raw: RawValues): Promise<boolean>;
  /** Returns the objects that would be created implicitly; undefined if the user did not mean them. */
  meant(raw: RawValues): Promise<readonly NewName[] | undefined>;
  /** Runs the operation; undefined if the object already exists and that is accepted. */
  run(raw: RawValues): Promise<Outcome<unknown> | undefined>;
  /** Prints messages about one outcome. */
  report(outcome: Outcome<unknown>, raw: RawValues): Promise<void>;
  /** Prints all outcomes. */
  print(outcomes: readonly Outcome<unknown>[], implicit: readonly NewName[]): Promise<void>;
}

/**
 * Runs an operation for several names in order, until it fails for one. An operation that asks for confirmation begins
 * only if all of the names can be expected to succeed. The results of the names before a failure are still printed.
 * @param param parameter that has the name
 * @throws the error of the name for which it failed, which says for which names it was done
 */
export async function runEach(calls: readonly RawValues[], param: string, steps: Steps): Promise<number> {
  const resolved: RawValues[] = [];
  for (const call of steps.asks ? calls : []) resolved.push(await steps.resolve(call));
  for (const raw of resolved) await steps.foresee(raw);
  for (const raw of resolved) if (!(await steps.isConfirmed(raw))) return FAILED;
  const done: string[] = [];
  const outcomes: Outcome<unknown>[] = [];
  const implicit: NewName[] = [];
  let isRefused = false;
  let failure: unknown;
  try {
    for (const [at, call] of calls.entries()) {
      const raw = resolved[at] ?? (await steps.resolve(call));
      const made = await steps.meant(raw);
      if (made === undefined) {
        isRefused = true;
        break;
      }
      implicit.push(...made);
      const outcome = await steps.run(raw);
      if (outcome === undefined) continue;
      await steps.report(outcome, raw);
      outcomes.push(outcome);
      done.push(String(call[param]));
    }
  } catch (error) {
    failure = error;
  }
  if (outcomes.length > 0) await steps.print(outcomes, implicit);
  if (failure !== undefined) throw afterSome(failure, done);
  return isRefused ? FAILED : DONE;
}

/** Adds the names for which the operation was done to the error. */
function afterSome(error: unknown, done: readonly string[]): unknown {
  const known = asCofferError(error);
  if (known === undefined || done.length === 0) return error;
  const { kind, texts, field, isGone } = known;
  return new CofferError(kind, placed`${texts.message}; already done: ${done.join(', ')}`, {
    field,
    hint: texts.hint,
    cause: error,
    isGone: isGone ? true : undefined,
  });
}

/** Returns one document with the resources of all outcomes. */
export const jointDocument = (outcomes: readonly Outcome<unknown>[]): unknown => ({
  data: outcomes.flatMap(({ data }) => (data as { readonly data?: unknown } | undefined)?.data ?? []),
});

/** Returns the results of those outcomes that have one. */
export const results = (outcomes: readonly Outcome<unknown>[]): readonly unknown[] =>
  outcomes.map(resultOf).filter((result) => result !== undefined);

/** Returns the output format of a list of results, each of which has this one. */
export function listShape(shape: OutputShape): OutputShape {
  const lines = (data: unknown) => items(data).flatMap((item) => rawLines(item, shape));
  const { table } = shape;
  if (table === undefined) return { lines };
  return {
    lines,
    table(data) {
      const tables = items(data).map((item): Table => table(item));
      return { head: tables[0]?.head ?? [], rows: tables.flatMap(({ rows }) => rows) };
    },
  };
}

const items = (data: unknown): readonly unknown[] => (Array.isArray(data) ? data : [data]);
