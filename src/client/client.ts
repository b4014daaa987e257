import type { Operation, Outcome } from '../operations/declaration/operation.ts';
import { parseValues } from '../operations/declaration/params.ts';
import { readAnswer } from './answer.ts';
import { HttpTransport } from './http-transport.ts';
import { printRequest } from './request.ts';

export interface ClientOptions {
  /** `http://host:port`, `https://host:port` or `unix:/path/to.sock`. */
  readonly address: string;
  readonly token?: string;
  /** Milliseconds to wait for the whole answer; default 90 seconds, as long as servers of the family take. */
  readonly timeoutMs?: number;
  /** Longer answers are refused; default 256 MiB. */
  readonly maxAnswerBytes?: number;
  /** PEM certificates to trust beside those of the platform. */
  readonly certificateAuthorities?: string;
}

/** Runs operations on a server: requests derive from the declarations, errors come back with their kinds. */
export interface Client {
  /**
   * Runs one operation.
   * @param raw wire name → JSON value, as `parseValues` takes them.
   * @throws the `CofferError` that the same call raises on a local store; `unavailable` when no answer comes.
   */
  run(operation: Operation, raw: Readonly<Record<string, unknown>>, mount: string): Promise<Outcome<unknown>>;
  /** Closes the kept connections. */
  close(): void;
}

const DEFAULT_TIMEOUT_MS = 90_000;
/** The largest signatures, for a batch of a thousand items, come to about 70 MiB. */
const DEFAULT_MAX_ANSWER_BYTES = 256 * 1024 * 1024;

/** Makes a client; nothing is sent before the first operation. @throws `invalid` for an impossible address. */
export function connect({ token, timeoutMs, maxAnswerBytes, ...options }: ClientOptions): Client {
  const transport = new HttpTransport({
    ...options,
    timeoutMs: timeoutMs ?? DEFAULT_TIMEOUT_MS,
    maxAnswerBytes: maxAnswerBytes ?? DEFAULT_MAX_ANSWER_BYTES,
  });
  return {
    async run(operation, raw, mount) {
      // What can't be right is refused here, in the words of a local command.
      parseValues(operation.params, raw);
      return readAnswer(operation, await transport.send(printRequest(operation, raw, mount, token)));
    },
    close: () => transport.close(),
  };
}
