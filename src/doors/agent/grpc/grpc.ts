import {
  constants,
  createServer,
  type Http2Server,
  type IncomingHttpHeaders,
  type ServerHttp2Stream,
} from 'node:http2';
import type { Duplex } from 'node:stream';
import { asCofferError, CofferError, type ErrorKind, invalid } from '../../../ground/errors.ts';
import { goneSignal } from '../connections.ts';

/*
 * Unary calls of gRPC over HTTP/2 (grpc/doc/PROTOCOL-HTTP2.md).
 * @see docs/decisions/0205
 */

/**
 * Methods by path, e.g. `/KeyService/Encrypt`: each returns the response message; the signal is aborted when the client
 * is gone.
 */
export type Methods = Readonly<Record<string, (message: Buffer, gone: AbortSignal) => Promise<Buffer>>>;

/** Maximum size of a message in bytes: longer than a data key with names. */
const MOST_CALL_BYTES = 64 * 1024;
/** Maximum length of an error text: it is sent in a header, escaped, and may contain text from the client. */
const MOST_MESSAGE_CHARACTERS = 1000;
const PREFIX_BYTES = 5;
/**
 * Maximum number of concurrent calls per connection, whose messages are all in memory. gRPC clients queue further ones.
 */
const MOST_STREAMS = 16;
/** Maximum memory per connection, in megabytes. */
const MOST_SESSION_MEMORY = 4;

/** Status codes (grpc/doc/statuscodes.md). */
const OK = 0;
const UNIMPLEMENTED = 12;
const INTERNAL = 13;
const STATUS: Readonly<Record<ErrorKind, number>> = {
  invalid: 3,
  unsupported: 12,
  'not-found': 5,
  denied: 7,
  sealed: 9,
  conflict: 9,
  exists: 6,
  inauthentic: 3,
  corrupt: 15,
  unavailable: 14,
  unconfirmed: 2,
  'too-large': 8,
};

/**
 * Creates a server for connections.
 * @param defect receives internal errors
 */
export function grpcServer(methods: Methods, defect: (error: unknown) => void): (connection: Duplex) => void {
  const server: Http2Server = createServer({
    maxSessionMemory: MOST_SESSION_MEMORY,
    settings: { maxConcurrentStreams: MOST_STREAMS, enablePush: false },
  });
  const turns = new MessageTurns();
  server.on('sessionError', () => undefined);
  server.on('stream', (stream, headers) => {
    stream.on('error', () => undefined);
    answer(stream, headers, methods, turns).catch((error: unknown) => {
      // The client has disconnected; this is not an internal error.
      if (isCutShort(error)) return;
      const known = asCofferError(error);
      if (known === undefined) defect(error);
      fail(stream, known === undefined ? INTERNAL : STATUS[known.kind], known?.message ?? 'internal error');
    });
  });
  return (connection) => void server.emit('connection', connection);
}

/**
 * Processes one message of all connections per event loop turn, so that many concurrent messages do not block other
 * work of the process.
 */
class MessageTurns {
  #last: Promise<void> = Promise.resolve();

  next(): Promise<void> {
    this.#last = this.#last.then(() => new Promise((resolve) => setImmediate(resolve)));
    return this.#last;
  }
}

async function answer(
  stream: ServerHttp2Stream,
  headers: IncomingHttpHeaders,
  methods: Methods,
  turns: MessageTurns,
): Promise<void> {
  const path = String(headers[constants.HTTP2_HEADER_PATH]);
  const method = Object.hasOwn(methods, path) ? methods[path] : undefined;
  const request = await messageOf(stream);
  await turns.next();
  if (method === undefined) return fail(stream, UNIMPLEMENTED, 'unknown method');
  const body = await method(request, goneSignal(stream));
  if (stream.destroyed || stream.headersSent) return;
  stream.respond(HEADERS, { waitForTrailers: true });
  stream.once('wantTrailers', () => stream.sendTrailers({ 'grpc-status': String(OK) }));
  const prefix = Buffer.alloc(PREFIX_BYTES);
  prefix.writeUInt32BE(body.length, 1);
  stream.end(Buffer.concat([prefix, body]));
}

/** Whether it is Node's error for a stream that ended before it was completely read. */
const isCutShort = (error: unknown): boolean =>
  (error as NodeJS.ErrnoException).code === 'ERR_STREAM_PREMATURE_CLOSE';

const HEADERS = { ':status': 200, 'content-type': 'application/grpc' } as const;

/**
 * Reads one gRPC message.
 * @throws `invalid` if it is malformed, `too-large`, or `unsupported` if it is compressed
 */
async function messageOf(stream: ServerHttp2Stream): Promise<Buffer> {
  const pieces: Buffer[] = [];
  let length = 0;
  // A message that is too long still gets a response.
  for await (const piece of stream.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
    length += piece.length;
    if (length > MOST_CALL_BYTES + PREFIX_BYTES) {
      throw new CofferError('too-large', `the request is larger than ${MOST_CALL_BYTES} bytes`);
    }
    pieces.push(piece);
  }
  return parseMessage(Buffer.concat(pieces));
}

/**
 * Parses a message with its prefix.
 * @throws as `messageOf`
 */
export function parseMessage(bytes: Buffer): Buffer {
  const [compressed] = bytes;
  if (bytes.length < PREFIX_BYTES || bytes.readUInt32BE(1) !== bytes.length - PREFIX_BYTES) {
    throw invalid('the request must be exactly one message');
  }
  if (compressed !== 0) throw new CofferError('unsupported', 'compressed messages are not supported');
  return bytes.subarray(PREFIX_BYTES);
}

function fail(stream: ServerHttp2Stream, status: number, message: string): void {
  if (stream.destroyed || stream.headersSent) return;
  const shown = message.slice(0, MOST_MESSAGE_CHARACTERS).toWellFormed();
  const told = { 'grpc-status': String(status), 'grpc-message': encodeURIComponent(shown) };
  stream.respond({ ...HEADERS, ...told }, { endStream: true });
  stream.close(constants.NGHTTP2_NO_ERROR);
}
