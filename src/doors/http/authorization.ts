import type { TokenIdentity } from '../../access/access.ts';
import type { RequestParameters } from '../../access/parameter-rule.ts';
import { asCofferError } from '../../ground/errors.ts';
import type { Caller, Capability, Operation } from '../../operations/declaration/operation.ts';
import { type Method, printPath } from '../../operations/declaration/route.ts';
import type { Match } from '../../operations/routes.ts';
import type { ServedCore } from '../../service/served-core.ts';

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
 * What an operation will understand parameters as, because policies deny values however they are spelled.
 * What it will refuse is left out.
 * @param parameters as they were sent; what a path or a default adds is not theirs.
 */
export function meaningOf({ params }: Operation, parameters: RequestParameters): RequestParameters {
  const meant: Record<string, unknown> = {};
  for (const [name, param] of Object.entries(params)) {
    if (!Object.hasOwn(parameters, name)) continue;
    try {
      meant[name] = param.parse(parameters[name], name);
    } catch (error) {
      if (asCofferError(error) === undefined) throw error;
    }
  }
  return meant;
}

/**
 * The paths that policies must all allow: the one that was sent, and where a name in it has another spelling (policies are
 * called by lower-case names) the one that it means. Else a refusal of one spelling could be walked around with another.
 */
export function spellingsOf(path: string, match: Match): readonly string[] {
  if (typeof match === 'string') return [path];
  const { served, captures } = match;
  const { params } = served.operation;
  if (!Object.keys(captures).some((name) => params[name]?.understoodAs !== undefined)) return [path];
  const understood = (name: string): string | undefined => {
    const given = captures[name];
    return given === undefined ? undefined : (params[name]?.understoodAs?.(given) ?? given);
  };
  return [path, printPath(served.route, understood, asItIs)];
}

const asItIs = (segment: string): string => segment;

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
