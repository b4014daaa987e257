import { CofferError, expected } from '../ground/errors.ts';
import { DEFAULT_MOUNT } from '../mounts/paths.ts';
import type { Operation, Runner } from '../operations/declaration/operation.ts';
import { parseValues } from '../operations/declaration/params.ts';
import { CAPABILITY_OF } from '../operations/declaration/route.ts';
import { loadOperation, type RunnerOptions } from '../operations/runner.ts';
import { DENIED_HINT, policiesHint, readAnswer, readAnyAnswer, UNSEEN_HINT } from './answer.ts';
import { type Bearer, printPathRequest, printRequest, type Transport, type WireRequest } from './request.ts';

/**
 * Reads a response, and adds to an error what the server does not tell, but the request does: the capability and the
 * path that a policy must grant, or the name of what was not found.
 */
function explained<T>(right: string, request: WireRequest, read: () => T): T {
  try {
    return read();
  } catch (error) {
    const known = expected(error);
    throw namingRight(known, right, request) ?? namingMissing(known, request) ?? error;
  }
}

function namingRight(error: CofferError, right: string, request: WireRequest): CofferError | undefined {
  const { target } = request;
  const { kind, message, hint } = error;
  const isPlain =
    kind === 'denied' && message === REFUSED && (hint === undefined || hint === DENIED_HINT.hint);
  if (!isPlain || !target.startsWith(DATA_API)) return undefined;
  const path = decodeURIComponent(target.slice(DATA_API.length).split('?', 1)[0] ?? '');
  const method = request.method === 'POST' ? LOGIN.exec(path)?.[1] : undefined;
  if (method !== undefined)
    return new CofferError(kind, 'login failed', { hint: loginHint(method), cause: error });
  return new CofferError(kind, message, { hint: policiesHint(right, path), cause: error });
}

/** Path of a login, with the path of its method. A user, role or certificate can be called "login" as well. */
const LOGIN = /^(auth\/.+?)(?<!\/(?:role|users|groups|certs))\/login(?:\/[^/]+)?$/;

/** Returns the hint for a refused login. Servers do not tell clients without a token which methods are enabled. */
function loginHint(method: string): string {
  return (
    `an administrator can check with "coffer auth list" that ${method}/ is enabled; if it is, the credentials may be ` +
    'wrong, the user may be locked out, or logins from your address may not be allowed'
  );
}

function namingMissing(error: CofferError, { method, target }: WireRequest): CofferError | undefined {
  const isPlain = error.message === 'not found' && error.hint === UNSEEN_HINT.hint;
  if (!isPlain || !target.startsWith(DOCUMENT_API)) return undefined;
  const path = target.slice(DOCUMENT_API.length).split('?', 1)[0] ?? '';
  const [collection = '', id, inner = '', innerId, ...rest] = path.split('/').map(decodeURIComponent);
  if (id === undefined) return undefined;
  const isOrganization = collection === 'organizations';
  const outer = `${wordFor(collection)} "${id}"`;
  const isInside = isOrganization && innerId !== undefined;
  const whole = isInside ? `${wordFor(inner)} "${innerId}" of ${outer}` : outer;
  // The body of a change may name more that does not exist.
  const namesMore = method !== 'GET' && (isInside ? rest.length > 0 : inner !== '');
  const isListed = isOrganization && !isInside;
  return new CofferError(
    error.kind,
    namesMore ? `not found: ${whole}, or another object named in the command` : `${whole} not found`,
    {
      hint: `${UNSEEN_HINT.hint}${isListed ? '; "coffer orgs list" lists the organizations that the token may see' : ''}`,
      cause: error,
    },
  );
}

/** Returns the word for one of a collection in a path: `workspaces`, `reserved-tag-keys`. */
const wordFor = (collection: string): string => collection.replaceAll('-', ' ').replace(/s$/, '');

/**
 * Capability that an operation needs. Which one an operation that may create needs depends on whether its target
 * exists, which a refusal does not reveal.
 */
const rightOf = ({ capability, exists }: Pick<Operation, 'capability' | 'exists'>): string =>
  exists === undefined ? `"${capability}"` : `"${capability}", or "create" if nothing has this name yet,`;

const REFUSED = 'permission denied';
const DATA_API = '/v1/';
const DOCUMENT_API = '/api/v2/';

/** Creates a runner over a transport: requests are derived from the declarations, and errors keep their kinds. */
export function remoteRunner(transport: Transport, bearer: Bearer, options: RunnerOptions): Runner {
  const { mount: ownMount = DEFAULT_MOUNT, organization } = options;
  return {
    async run(operation, raw, mount = ownMount) {
      const declaration = typeof operation === 'string' ? await loadOperation(operation) : operation;
      // Refuse invalid values locally, with the same messages as for a local store.
      parseValues(declaration.params, raw);
      const request = printRequest(declaration, raw, mount, bearer);
      const answer = await transport.send(request);
      return explained(rightOf(declaration), request, () => readAnswer(declaration, answer));
    },
    async at(asked) {
      const request = printPathRequest(asked, bearer);
      const answer = await transport.send(request);
      return explained(`"${CAPABILITY_OF[asked.method]}"`, request, () => readAnyAnswer(asked, answer));
    },
    organization,
    close: () => transport.close(),
  };
}
