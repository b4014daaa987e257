import { idOf, isGoodFrom, type TokenIdentity } from '../../access/access.ts';
import type { Capability } from '../../access/capability.ts';
import type { RequestParameters } from '../../access/parameter-rule.ts';
import { asCofferError } from '../../ground/errors.ts';
import type { JsonObject } from '../../ground/objects.ts';
import { type Caller, NOBODY, type Operation, owner } from '../declaration/operation.ts';
import type { AskedRequest, GuardedCore } from './asked-request.ts';

/** Decides whether the caller may make a request. */
export interface Judge {
  readonly caller: Caller;
  /** Whether the paths are allowed; parameters sent in addition to them may still be denied. */
  allowsPaths(paths: readonly string[]): boolean;
  allows(paths: readonly string[], capability: Capability, sent: JsonObject): boolean;
}

/**
 * Returns the judge of a request, by its caller.
 * @param identity identity of a valid token; undefined without one
 * @returns undefined if the request requires a valid token and has none
 */
export function judgeOf(asked: AskedRequest, identity: TokenIdentity | undefined): Judge | undefined {
  const { byOwner } = asked;
  const { operation, isOpenPath } = asked.endpoint;
  if (byOwner && !operation?.unauthenticated) return OWNER;
  if (identity !== undefined) return policyJudge(asked, identity);
  const isOpen = operation === undefined ? isOpenPath : operation.unauthenticated || operation.strangers;
  return isOpen ? anybody(asked) : undefined;
}

/**
 * Returns the identity of a token if it is valid for the client's address and its policies may allow the request,
 * judging by the path alone; undefined otherwise. Does not count as a use of the token.
 */
export async function isWelcome(
  guarded: GuardedCore,
  asked: AskedRequest,
): Promise<TokenIdentity | undefined> {
  if (asked.token === undefined || asked.byOwner) return undefined;
  const identity = await guarded.access.identify({ token: asked.token });
  if (identity === undefined || !isGoodFrom(identity, asked.remoteAddress)) return undefined;
  const { paths, leadNowhere } = await asked.endpoint.policyPaths(guarded.core);
  const isAllowedThere = policyJudge(asked, identity).allowsPaths(paths);
  return isAllowedThere && !leadNowhere ? identity : undefined;
}

/** Judge of operations that need no token, such as a login: allows every caller. */
const anybody = ({ token }: AskedRequest): Judge => ({
  caller: token === undefined ? NOBODY : { ...NOBODY, token },
  allowsPaths: () => true,
  allows: () => true,
});

/** Judge of the owner, who can open the store. */
const OWNER: Judge = { caller: owner, allowsPaths: () => true, allows: () => true };

/** Creates the judge by the policies of a token. */
function policyJudge({ token = '', wrapTtl, endpoint }: AskedRequest, identity: TokenIdentity): Judge {
  const { acl, accessor, wrapped } = identity;
  const { policyPrefix, operation, capability } = endpoint;
  const may = (paths: readonly string[], wanted: Capability, sent?: JsonObject): boolean => {
    const meant = sent && operation && (() => meaningOf(operation, sent));
    for (const path of paths)
      if (!acl.allows(policyPrefix + path, wanted, sent, meant, wrapTtl)) return false;
    return true;
  };
  const allows = (paths: readonly string[], wanted: Capability, sent?: JsonObject): boolean =>
    operation?.anyToken === true ||
    (may(paths, wanted, sent) && (operation?.capability !== 'sudo' || may(paths, 'sudo', sent)));
  return {
    caller: {
      id: idOf(identity),
      accessor,
      token,
      may: (path, wanted, sent) => may([path], wanted, sent),
      reaches: (path) => acl.reaches(`${policyPrefix}${path}/`),
      wrapped,
    },
    allowsPaths: (paths) =>
      operation?.exists === undefined
        ? allows(paths, capability)
        : may(paths, 'update') || may(paths, 'create'),
    allows,
  };
}

/**
 * Returns the parameters as the operation will parse them, because policies deny values in all their spellings. Invalid
 * ones are omitted.
 * @param parameters parameters as they were sent, without those from the path and without defaults
 */
function meaningOf({ params }: Operation, parameters: RequestParameters): RequestParameters {
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
