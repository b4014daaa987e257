import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Server as SecureServer } from 'node:https';
import type { Socket } from 'node:net';

/**
 * HTTP method LIST for a Node server, whose parser does not support it and fails with 400.
 *
 * Other requests are not affected, because this handles `clientError`. The parser fails at the S of LIST, because it
 * expected LINK. The parser is then reset, receives the bytes again with LINK in place of LIST, and the method of the
 * next message is replaced by LIST. Any data after it in the same packet, a body or further pipelined requests, is
 * parsed as usual.
 * @see docs/decisions/0060
 */

/** Used part of Node's parser; it is not a public API, hence covered by a separate test suite. */
interface NodeParser {
  /** Last parsed message. */
  readonly incoming: IncomingMessage | null;
  remove(): void;
  initialize(
    type: number,
    resource: object,
    maxHeaderSize: number,
    leniency: number,
    connections: unknown,
  ): void;
  onIncoming: OnIncoming;
}
type OnIncoming = (request: IncomingMessage, keepAlive: boolean) => unknown;

interface ParsedSocket extends Socket {
  readonly parser?: NodeParser | null;
  readonly _paused?: boolean;
  readonly _httpMessage?: ServerResponse | null;
}

/** Parser error, as reported by `clientError`. */
export interface ClientError extends Error {
  readonly code?: string;
  readonly bytesParsed?: number;
  readonly rawPacket?: Buffer;
}

type ErrorListener = (error: ClientError, socket: Socket) => void;

const NAME = Buffer.from('LIST ');
const REQUEST_PARSER = 1;
const STRICT = 0;

/**
 * Makes a server report LIST requests with `request.method === 'LIST'`. A request whose method is split across packets
 * before its second letter is refused, because the first bytes are no longer available.
 * @param onError receives every other client error
 */
export function enableList(server: Server | SecureServer, onError: ErrorListener): void {
  const lists = new ListFeeder(server);
  server.on('clientError', (error: ClientError, socket: Socket) => {
    const bytes = lists.bytesOfList(error, socket);
    if (bytes === undefined) onError(error, socket);
    else lists.take(bytes, socket);
  });
}

class ListFeeder {
  readonly #server: Server | SecureServer;
  /** Bytes from a LIST on that were not parsed yet. */
  readonly #pending = new WeakMap<Socket, Buffer>();
  readonly #feeding = new WeakSet<Socket>();
  #connections: unknown;

  constructor(server: Server | SecureServer) {
    this.#server = server;
  }

  /** Returns the bytes from the method on, possibly incomplete; undefined if it is not LIST. */
  bytesOfList(error: ClientError, socket: ParsedSocket): Buffer | undefined {
    if (error.code !== 'HPE_INVALID_METHOD' || !socket.parser || socket.destroyed) return undefined;
    const packet = error.rawPacket;
    const at = error.bytesParsed;
    if (packet === undefined || at === undefined) return undefined;
    const earlier = this.#pending.get(socket);
    // The parser keeps its error, and reports it again for the following bytes.
    const bytes =
      earlier === undefined ? fromMethod(packet, at, socket.parser) : Buffer.concat([earlier, packet]);
    if (bytes === undefined) return undefined;
    const visible = Math.min(bytes.length, NAME.length);
    return NAME.compare(bytes, 0, visible, 0, visible) === 0 ? bytes : undefined;
  }

  take(bytes: Buffer, socket: Socket): void {
    this.#pending.set(socket, bytes);
    if (!this.#feeding.has(socket)) this.#feed(socket);
  }

  #feed(socket: ParsedSocket): void {
    this.#feeding.add(socket);
    try {
      for (;;) {
        const bytes = this.#pending.get(socket);
        if (bytes === undefined || bytes.length < NAME.length || socket.destroyed || !socket.parser) return;
        if (socket._paused) {
          // Earlier responses have filled the connection: continue once they have been read.
          socket.once('resume', () => this.#feed(socket));
          return;
        }
        this.#pending.delete(socket);
        this.#restart(socket.parser, socket);
        bytes.write('LINK', 0, 'latin1');
        // Another LIST in them sets `pending` again, so a loop avoids recursion.
        socket.emit('data', bytes);
      }
    } finally {
      this.#feeding.delete(socket);
    }
  }

  /** Resets the parser to the start of a message, and replaces the method of that message by LIST. */
  #restart(parser: NodeParser, socket: Socket): void {
    this.#connections ??= symbolProperty(this.#server, 'http.server.connections');
    // Remove it from the server's timeout list before its start time changes.
    parser.remove();
    const resource = { type: 'HTTPINCOMINGMESSAGE', socket };
    const { maxHeaderSize } = this.#server as { maxHeaderSize?: number };
    parser.initialize(REQUEST_PARSER, resource, maxHeaderSize ?? 0, STRICT, this.#connections);
    const { onIncoming } = parser;
    parser.onIncoming = (request, keepAlive) => {
      parser.onIncoming = onIncoming;
      request.method = 'LIST';
      return onIncoming(request, keepAlive);
    };
  }
}

/**
 * Returns the bytes from the method on. The parser took LI for LINK and stopped at the S. Both letters must be in this
 * packet, and the method must begin with them: `GE` in an earlier packet, or the UN of UNLINK in this one, would make
 * it another word. A UN at the end of the previous message's body is not part of the word.
 */
function fromMethod(packet: Buffer, at: number, { incoming }: NodeParser): Buffer | undefined {
  const start = at - 2;
  if (start < 0 || packet.toString('latin1', start, at + 1) !== 'LIS') return undefined;
  const followsUn = start >= 2 && packet.toString('latin1', start - 2, start) === 'UN';
  return followsUn && !endsBody(packet, start, incoming) ? undefined : packet.subarray(start);
}

const END_OF_HEAD = '\r\n\r\n';

/**
 * Whether a body ends before `end`: one of known length that began in an earlier packet, or after its head in this one.
 */
function endsBody(packet: Buffer, end: number, message: IncomingMessage | null): boolean {
  const length = Number(message?.headers['content-length'] ?? 0);
  if (length === 0) return false;
  const start = Math.max(0, end - length);
  const before = packet.toString('latin1', Math.max(0, start - END_OF_HEAD.length - 2), start);
  // A third line break is part of the body: the body ends earlier then, and UN is part of the next word.
  return END_OF_HEAD.endsWith(before.slice(-END_OF_HEAD.length)) && before !== `\r\n${END_OF_HEAD}`;
}

const symbolProperty = (object: object, description: string): unknown => {
  const symbol = Object.getOwnPropertySymbols(object).find(
    (candidate) => candidate.description === description,
  );
  return symbol === undefined ? undefined : (object as Readonly<Record<symbol, unknown>>)[symbol];
};
