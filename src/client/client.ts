import { unsupported } from '../errors.ts';
import type { Operation, Outcome } from '../operations/operation.ts';

export interface ClientOptions {
  /** `http://host:port`, `https://host:port` or `unix:/path/to.sock`. */
  readonly address: string;
  readonly token?: string;
  /** Milliseconds to wait for the whole answer; default 90 seconds, as long as servers of the family take. */
  readonly timeoutMs?: number;
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

/** Makes a client; nothing is sent before the first operation. @throws `invalid` for an impossible address. */
export function connect(_options: ClientOptions): Client {
  throw unsupported('working against a server');
}

/**
 * Cuts a stream of batch items into slices that stay below the size of a request.
 * @param items each a JSON value.
 */
export async function* slices(
  items: AsyncIterable<unknown> | Iterable<unknown>,
): AsyncGenerator<readonly unknown[]> {
  let slice: unknown[] = [];
  let bytes = 0;
  for await (const item of items) {
    const size = JSON.stringify(item).length;
    if (slice.length > 0 && (slice.length === MAX_SLICE_ITEMS || bytes + size > MAX_SLICE_BYTES)) {
      yield slice;
      slice = [];
      bytes = 0;
    }
    slice.push(item);
    bytes += size;
  }
  if (slice.length > 0) yield slice;
}

const MAX_SLICE_ITEMS = 1000;
const MAX_SLICE_BYTES = 1 << 20;
