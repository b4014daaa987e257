import {
  constants,
  createServer,
  type Http2Server,
  type IncomingHttpHeaders,
  type ServerHttp2Stream,
} from 'node:http2';
import type { Duplex } from 'node:stream';
import { asCofferError, CofferError, type ErrorKind, invalid } from '../../../ground/errors.ts';
import { goneSignal } from '../gone.ts';

/*
 * gRPC over HTTP/2 (grpc/doc/PROTOCOL-HTTP2.md) as far as calls go that have one request and one answer.
 * @see docs/decisions/0205
 */

/** By their paths, e.g. `/KeyService/Encrypt`: the message that answers a message, unless nobody waits for it any more. */
export type Methods = Readonly<Record<string, (message: Buffer, gone: AbortSignal) => Promise<Buffer>>>;

/** Nothing that is asked here is longer than a data key and names. */
const MOST_CALL_BYTES = 64 * 1024;
/** Of an error: it travels in a header, escaped, and what a client has sent may stand in it. */
const MOST_MESSAGE_CHARACTERS = 1000;
const PREFIX_BYTES = 5;
/** Calls of one connection at a time: the messages of all of them lie in memory. Clients of gRPC wait with what is more. */
const MOST_STREAMS = 16;
/** Megabytes of memory for each connection. */
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
 * What answers connections of clients.
 * @param defect takes what nobody foresaw.
 */
export function grpcServer(methods: Methods, defect: (error: unknown) => void): (connection: Duplex) => void {
  const server: Http2Server = createServer({
    maxSessionMemory: MOST_SESSION_MEMORY,
    settings: { maxConcurrentStreams: MOST_STREAMS, enablePush: false },
  });
  const turns = new Turns();
  server.on('sessionError', () => undefined);
  server.on('stream', (stream, headers) => {
    stream.on('error', () => undefined);
    answer(stream, headers, methods, turns).catch((error: unknown) => {
      // Who gave up in the middle is told nothing, and nothing is wrong with us.
      if (isCutShort(error)) return;
      const known = asCofferError(error);
      if (known === undefined) defect(error);
      fail(stream, known === undefined ? INTERNAL : STATUS[known.kind], known?.message ?? 'internal error');
    });
  });
  return (connection) => void server.emit('connection', connection);
}

/**
 * Lets one message of all connections be looked at in each turn of the event loop. Many that came together do not hold up what the process has
 * to do besides.
 */
class Turns {
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
  turns: Turns,
): Promise<void> {
  const path = String(headers[constants.HTTP2_HEADER_PATH]);
  const method = Object.hasOwn(methods, path) ? methods[path] : undefined;
  const request = await messageOf(stream);
  await turns.next();
  if (method === undefined) return fail(stream, UNIMPLEMENTED, 'there is no such method');
  const body = await method(request, goneSignal(stream));
  if (stream.destroyed || stream.headersSent) return;
  stream.respond(HEADERS, { waitForTrailers: true });
  stream.once('wantTrailers', () => stream.sendTrailers({ 'grpc-status': String(OK) }));
  const prefix = Buffer.alloc(PREFIX_BYTES);
  prefix.writeUInt32BE(body.length, 1);
  stream.end(Buffer.concat([prefix, body]));
}

/** Node's word for a stream that ended before all of it was read. */
const isCutShort = (error: unknown): boolean =>
  (error as NodeJS.ErrnoException).code === 'ERR_STREAM_PREMATURE_CLOSE';

const HEADERS = { ':status': 200, 'content-type': 'application/grpc' } as const;

/** @throws `invalid` for what is no message; `too-large`, `unsupported` for one that is compressed. */
async function messageOf(stream: ServerHttp2Stream): Promise<Buffer> {
  const pieces: Buffer[] = [];
  let length = 0;
  // What is too long is answered all the same.
  for await (const piece of stream.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
    length += piece.length;
    if (length > MOST_CALL_BYTES + PREFIX_BYTES) {
      throw new CofferError('too-large', `a message has ${MOST_CALL_BYTES} bytes at most`);
    }
    pieces.push(piece);
  }
  return parseMessage(Buffer.concat(pieces));
}

/** A message with its prefix. @throws as `messageOf`. */
export function parseMessage(bytes: Buffer): Buffer {
  const [compressed] = bytes;
  if (bytes.length < PREFIX_BYTES || bytes.readUInt32BE(1) !== bytes.length - PREFIX_BYTES) {
    throw invalid('that is not one message');
  }
  if (compressed !== 0) throw new CofferError('unsupported', 'compressed messages are not taken');
  return bytes.subarray(PREFIX_BYTES);
}

function fail(stream: ServerHttp2Stream, status: number, message: string): void {
  if (stream.destroyed || stream.headersSent) return;
  const shown = message.slice(0, MOST_MESSAGE_CHARACTERS).toWellFormed();
  const told = { 'grpc-status': String(status), 'grpc-message': encodeURIComponent(shown) };
  stream.respond({ ...HEADERS, ...told }, { endStream: true });
  stream.close(constants.NGHTTP2_NO_ERROR);
}
