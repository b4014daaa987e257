import type { TokenIdentity } from '../access/access.ts';
import { asCofferError } from '../errors.ts';
import type { Caller, Capability, Operation } from '../operations/operation.ts';
import type { Method } from '../operations/route.ts';
import type { ServedCore } from './served-core.ts';

/** What policies are asked for where no operation says otherwise. */
export const CAPABILITY_OF: Readonly<Record<Method, Capability>> = {
  GET: 'read',
  LIST: 'list',
  POST: 'update',
  PATCH: 'update',
  DELETE: 'delete',
};

/** `sudo` is asked for beside the capability that the method has anyway. */
export const capabilityOf = (operation: Operation, method: Method): Capability =>
  operation.capability === 'sudo' ? CAPABILITY_OF[method] : operation.capability;

export const isAllowed = (
  operation: Operation,
  capability: Capability,
  may: (capability: Capability) => boolean,
): boolean =>
  operation.anyToken === true || (may(capability) && (operation.capability !== 'sudo' || may('sudo')));

/**
 * What an operation will understand parameters as: policies deny values, however they are spelled.
 * Nothing when it will refuse them.
 * @param parameters as they were sent; what a path or a default adds is not theirs.
 */
export function meaningOf(operation: Operation, parameters: Readonly<Record<string, unknown>>) {
  const known = Object.entries(operation.params).filter(([name]) => Object.hasOwn(parameters, name));
  try {
    return Object.fromEntries(known.map(([name, param]) => [name, param.parse(parameters[name], name)]));
  } catch (error) {
    if (asCofferError(error) === undefined) throw error;
    return {};
  }
}

/** Who calls where no token is asked for. */
export const NOBODY: Caller = { may: () => false, reaches: () => false };

/** @param prefix of the API's paths in policies. */
export const callerOf = (
  { access }: ServedCore,
  identity: TokenIdentity,
  token: string,
  prefix = '',
): Caller => ({
  accessor: identity.accessor,
  token,
  may: (path, capability) => access.authorize(identity, prefix + path, capability),
  reaches: (path) => access.reaches(identity, `${prefix}${path}/`),
});
