import { DEFAULT_MOUNT } from '../mounts/paths.ts';
import type { Runner } from '../operations/declaration/operation.ts';
import { parseValues } from '../operations/declaration/params.ts';
import { loadOperation, type RunnerOptions } from '../operations/runner.ts';
import { readAnswer, readAnyAnswer } from './answer.ts';
import { HttpTransport } from './http-transport.ts';
import { type Bearer, printPathRequest, printRequest } from './request.ts';

export interface ClientOptions extends RunnerOptions {
  /** `http://host:port`, `https://host:port` or `unix:/path/to.sock`. */
  readonly address: string;
  readonly token?: string;
  /** Of a server of the Vault family that has namespaces. */
  readonly namespace?: string;
  /** Milliseconds to wait for the whole answer; default 90 seconds, as long as servers of the family take. */
  readonly timeoutMs?: number;
  /** Longer answers are refused; default 256 MiB. */
  readonly maxAnswerBytes?: number;
  /** PEM certificates to trust beside those of the platform. */
  readonly certificateAuthorities?: string;
  /** Variables that name a proxy: `HTTPS_PROXY`, `HTTP_PROXY`, `NO_PROXY`. Nothing for this machine goes there. */
  readonly proxyEnv?: NodeJS.ProcessEnv;
}

const DEFAULT_TIMEOUT_MS = 90_000;
/** The largest signatures, for a batch of a thousand items, come to about 70 MiB. */
const DEFAULT_MAX_ANSWER_BYTES = 256 * 1024 * 1024;

/**
 * Runs operations on a server: requests derive from the declarations, errors come back with their kinds. Nothing is sent
 * before the first operation.
 * @throws `invalid` for an impossible address.
 */
export function connect(options: ClientOptions): Runner {
  const {
    token,
    namespace,
    mount: ownMount = DEFAULT_MOUNT,
    organization,
    timeoutMs,
    maxAnswerBytes,
    ...others
  } = options;
  const transport = new HttpTransport({
    ...others,
    timeoutMs: timeoutMs ?? DEFAULT_TIMEOUT_MS,
    maxAnswerBytes: maxAnswerBytes ?? DEFAULT_MAX_ANSWER_BYTES,
  });
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
