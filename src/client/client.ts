import { DEFAULT_MOUNT } from '../mounts/paths.ts';
import type { Runner } from '../operations/declaration/operation.ts';
import { parseValues } from '../operations/declaration/params.ts';
import { loadOperation, type RunnerOptions } from '../operations/runner.ts';
import { readAnswer, readAnyAnswer } from './answer.ts';
import { HttpTransport, type TransportOptions } from './http-transport.ts';
import { type Bearer, printPathRequest, printRequest } from './request.ts';

export interface ClientOptions extends RunnerOptions, TransportOptions {
  readonly token?: string;
  /** Of a server of the Vault family that has namespaces. */
  readonly namespace?: string;
}

/**
 * Runs operations on a server: requests derive from the declarations, errors come back with their kinds. Nothing is sent
 * before the first operation.
 * @throws `invalid` for an impossible address.
 */
export function connect(options: ClientOptions): Runner {
  const { token, namespace, mount: ownMount = DEFAULT_MOUNT, organization } = options;
  const transport = new HttpTransport(options);
  const bearer: Bearer = { token, namespace };
  return {
    async run(operation, raw, mount = ownMount) {
      const declaration = typeof operation === 'string' ? await loadOperation(operation) : operation;
      // What can't be right is refused here, in the words of a local command.
      parseValues(declaration.params, raw);
      return readAnswer(declaration, await transport.send(printRequest(declaration, raw, mount, bearer)));
    },
    at: async (asked) => readAnyAnswer(asked, await transport.send(printPathRequest(asked, bearer))),
    organization,
    close: () => transport.close(),
  };
}
