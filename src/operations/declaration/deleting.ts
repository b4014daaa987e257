import { asCofferError, notFound } from '../../ground/errors.ts';
import { isObject } from '../../ground/objects.ts';
import { trimSlashes } from '../../ground/trim.ts';
import { type CliShape, type Runner, resultOf } from './operation.ts';
import type { CliParam } from './params.ts';

/*
 * Commands whose operation succeeds even if there is nothing to delete, as in Vault. Scripts may repeat them, but a
 * user is not told that something was deleted that did not exist.
 */

/** End of the question before a deletion, unless it says so otherwise or the object can be created again as it was. */
export const FOR_GOOD = 'This cannot be undone.';

type Values = Readonly<Record<string, unknown>>;

interface Deleting {
  /**
   * Looks up the object.
   * @throws `not-found` if it does not exist
   */
  find(values: Values, runner: Runner): Promise<unknown>;
  /** Name of the object in messages, e.g. `policy clerk`. */
  what(values: Values): string;
  /** Past participle, e.g. `Deleted`. */
  readonly done: string;
}

/** Counts 1 if an object was looked up and does not exist. */
export const countMissing = (found: Promise<unknown>): Promise<number> =>
  found.then(
    () => 0,
    (error: unknown) => (asCofferError(error)?.kind === 'not-found' ? 1 : 0),
  );

/** Whether an operation finds nothing; false if that cannot be determined. */
export const isMissing = async (runner: Runner, operation: string, raw: Values): Promise<boolean> =>
  (await countMissing(runner.run(operation, raw))) === 1;

/** Ignores an error of a lookup before an operation, which itself reports what it is refused for. */
export function unlessUnexpected(error: unknown): undefined {
  if (asCofferError(error) === undefined) throw error;
  return undefined;
}

/** Returns the parts of a command that look for the object before it is deleted. */
export const deletingNamed = ({
  find,
  what,
  done,
}: Deleting): Required<Pick<CliShape<unknown>, 'foresee' | 'unchanged' | 'done'>> => ({
  foresee: find,
  unchanged: (values, runner) => countMissing(find(values, runner)),
  done: (values, _data, _existing, missing) =>
    missing === 1 ? `No ${what(values)}; nothing was deleted.` : `${done} ${what(values)}.`,
});

interface NamedDeleting {
  /** Operation that reads one, and its parameter for the name, which is also that of the deletion. */
  readonly read: string;
  readonly param?: string;
  /** What is deleted in addition, for the question: ` and its secret IDs`. */
  readonly more?: string;
}

/** Returns a command that deletes objects of a kind, such as roles, by their names. */
export function deletingByName(kind: string, { read, param = 'name', more = '' }: NamedDeleting) {
  const what = (values: Values): string => `${kind} ${String(values[param])}`;
  return {
    confirm: async (values: Values) => `Delete the ${what(values)}${more}? ${FOR_GOOD}`,
    ...deletingNamed({
      find: (values, runner) => runner.run(read, { [param]: values[param] }),
      what,
      done: 'Deleted',
    }),
  };
}

/** Returns a name as the command that deletes takes it: one or several. */
export const eachNamed = <P extends { readonly cli: CliParam }>(param: P): P => ({
  ...param,
  cli: { ...param.cli, positional: 'each' },
});

/**
 * Requires that a list of mounts has one at a path.
 * @param list operation whose result has the paths as members, with a slash at the end
 * @param kind word for the mount in the message
 * @throws `not-found`
 */
export async function requireListed(
  runner: Runner,
  list: string,
  kind: string,
  path: unknown,
): Promise<void> {
  const listed = resultOf(await runner.run(list, {}));
  const wanted = trimSlashes(String(path));
  if (isObject(listed) && Object.hasOwn(listed, `${wanted}/`)) return;
  throw notFound(`no ${kind} "${wanted}"`, { field: 'path', hint: `run "coffer ${list}"` });
}
