import { DEFAULT_MOUNT } from '../mounts/paths.ts';
import type { Runner } from '../operations/declaration/operation.ts';
import { parseValues } from '../operations/declaration/params.ts';
import { loadOperation, type RunnerOptions } from '../operations/runner.ts';
import { readAnswer } from './answer.ts';
import { HttpTransport, type TransportOptions } from './http-transport.ts';
import { printRequest } from './request.ts';

export interface ClientOptions extends RunnerOptions, TransportOptions {
  readonly token?: string;
}

/**
 * Runs operations on a server: requests derive from the declarations, errors come back with their kinds. Nothing is sent
 * before the first operation.
 * @throws `invalid` for an impossible address.
 */
export function connect(options: ClientOptions): Runner {
  const { token, mount: ownMount = DEFAULT_MOUNT, organization } = options;
  const transport = new HttpTransport(options);
  return {
    async run(operation, raw, mount = ownMount) {
      const declaration = typeof operation === 'string' ? await loadOperation(operation) : operation;
      // What can't be right is refused here, in the words of a local command.
      parseValues(declaration.params, raw);
      return readAnswer(declaration, await transport.send(printRequest(declaration, raw, mount, token)));
    },
    organization,
    close: () => transport.close(),
  };
}
