import { asCofferError, CofferError, placed } from '../ground/errors.ts';
import { type Outcome, resultOf } from '../operations/declaration/operation.ts';
import type { Table } from '../operations/declaration/table.ts';
import { type OutputShape, rawLines } from './files/output.ts';

/** Adds the names for which the operation was done to the error. */
export function afterSome(error: unknown, done: readonly string[]): unknown {
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
