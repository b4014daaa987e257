/** Roles, users and other objects with names: the names in paths, and lists of them. */

import { invalid, notFound } from '../../ground/errors.ts';
import type { ListOptions } from '../../store/store.ts';
import { accessOperation, operationsOf } from '../declaration/mount-operations.ts';
import type { MountCall, Outcome } from '../declaration/operation.ts';
import { type CliParam, declare, integer, type Spec, text, type ValuesOf } from '../declaration/params.ts';
import { parseText } from '../declaration/weak-values.ts';

/** Returns the function that declares the operations of a login method, whose handlers get its mount in a `room`. */
export const loginOperations = <const Method extends string>(method: Method) =>
  operationsOf(method, async (call: MountCall) => {
    const { store, clock, random, mounts } = call.core;
    return { ...call, room: { store, clock, random, mount: await mounts.get(call.mount, method) } };
  });

/** Vault's syntax of a generic name. */
const GENERIC_NAME = /^\w(?:[\w.-]*\w)?$/;

/**
 * Declares a name in the path.
 * @param cli its appearance on the command line
 * @param understood normalizes the name
 */
const genericName = (
  help: string,
  cli: Pick<CliParam, 'metavar' | 'example' | 'refersTo'>,
  understood: (name: string) => string = (name) => name,
) =>
  declare<string, Spec<string> & { readonly required: true }>(
    { help, required: true, cli: { positional: true, ...cli } },
    { type: 'string', pattern: GENERIC_NAME.source },
    (value, field) => {
      const name = parseText(value, field);
      if (GENERIC_NAME.test(name)) return understood(name);
      throw invalid(`${field} ${JSON.stringify(name)} is not allowed`, {
        field,
        hint: 'use letters, digits, "_", "-" and "."; the name must begin and end with a letter, a digit or "_"',
      });
    },
  );

const lower = (name: string): string => name.toLowerCase();

/**
 * Role or user in the path; names are converted to lower case.
 * @param what its kind in words, e.g. `role`
 * @param example name in generated examples
 */
export const roleName = (what: string, example: string) => ({
  ...genericName(`Name of the ${what}; converted to lower case.`, { metavar: 'NAME', example }, lower),
  understoodAs: lower,
});

/** The token role in the path. */
export const tokenRoleName = genericName('Name of the token role.', {
  metavar: 'ROLE',
  refersTo: 'token-role',
});

/** Paging parameters of all lists of roles and users. */
export const listParams = {
  after: text({
    help: 'List only names after NAME in sorted order; NAME need not exist.',
    default: '',
    cli: { metavar: 'NAME' },
  }),
  limit: integer({ help: 'Maximum number of names (0: all).', default: 0 }),
} as const;

export const pageOf = ({ after, limit }: ValuesOf<typeof listParams>): ListOptions => ({
  after: after === '' ? undefined : after,
  limit: limit > 0 ? limit : undefined,
});

/**
 * Prints names, one per line.
 * @param what plural of the listed objects
 * @param create command that creates one
 */
export const listCli = (what: string, create: string) =>
  ({ result: { member: 'keys', as: 'lines' }, empty: { what, create } }) as const;

/** Returns what lists of names have in common that are returned in pages. */
export const listing = (what: string, create: string) =>
  ({ withoutSecret: true, params: listParams, cli: listCli(what, create) }) as const;

/** @throws `not-found` if there is no role or user of the name */
export function found<T>(role: T | undefined, what: string, name: string, field = 'name'): T {
  if (role === undefined) throw notFound(`no ${what} ${name}`, { field });
  return role;
}

export const listAnswer = (keys: readonly string[]): Outcome<{ readonly keys: readonly string[] }> => ({
  data: { keys },
  nothingListed: keys.length === 0 ? true : undefined,
});

/** Response of maintenance tasks: with the text of Vault, which responds before the work is done; here it is done. */
export const tidied = {
  statusCode: 202,
  warnings: [
    "Tidy operation successfully started. Any information from the operation will be printed to OpenBao's server logs.",
  ],
} as const satisfies Outcome<never>;

/** Declares the maintenance task that servers also run periodically. */
export const tidying = (route: string) =>
  accessOperation({
    route,
    withoutSecret: true,
    async run({ access }) {
      await access.tokens.tidy();
      return tidied;
    },
  });
