import { CofferError } from '../ground/errors.ts';
import { DEFAULT_MOUNT } from '../mounts/paths.ts';
import type { Operation, Runner } from '../operations/declaration/operation.ts';
import { parseValues } from '../operations/declaration/params.ts';
import { CAPABILITY_OF } from '../operations/declaration/route.ts';
import { loadOperation, type RunnerOptions } from '../operations/runner.ts';
import { DENIED_HINT, readAnswer, readAnyAnswer } from './answer.ts';
import { type Bearer, printPathRequest, printRequest } from './request.ts';
import type { Transport } from './transport.ts';

/**
 * Adds to a refusal the capability and the path that a policy must grant: the server does not tell them, but they
 * follow from the request.
 */
function namingRight<T>(right: string, target: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    const isPlain =
      error instanceof CofferError &&
      error.kind === 'denied' &&
      error.message === REFUSED &&
      (error.hint === undefined || error.hint === DENIED_HINT.hint);
    if (!isPlain || !target.startsWith(DATA_API)) throw error;
    const path = decodeURIComponent(target.slice(DATA_API.length).split('?', 1)[0] ?? '');
    throw new CofferError(error.kind, error.message, {
      hint: `check that the token is valid and that its policies grant ${right} on ${path}`,
      cause: error,
    });
  }
}

/**
 * Capability that an operation needs. Which one an operation that may create needs depends on whether its target
 * exists, which a refusal does not reveal.
 */
const rightOf = ({ capability, exists }: Pick<Operation, 'capability' | 'exists'>): string =>
  exists === undefined ? `"${capability}"` : `"${capability}" ("create" if it does not exist yet)`;

const REFUSED = 'permission denied';
const DATA_API = '/v1/';

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
      return namingRight(rightOf(declaration), request.target, () => readAnswer(declaration, answer));
    },
    async at(asked) {
      const request = printPathRequest(asked, bearer);
      const answer = await transport.send(request);
      return namingRight(`"${CAPABILITY_OF[asked.method]}"`, request.target, () =>
        readAnyAnswer(asked, answer),
      );
    },
    organization,
    close: () => transport.close(),
  };
}
