import type { OutgoingHttpHeaders, ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Answer } from './exchange.ts';

/** Larger answers are handed over in slices, so that encrypting them for TLS never holds others up. */
const SLICE_BYTES = 1 << 20;

/** @param isLast closes the connection behind the answer. */
export function sendAnswer(response: ServerResponse, answer: Answer, isLast: boolean): void {
  const { status, contentType, headers, body } = answer;
  const head: OutgoingHttpHeaders = { ...headers };
  if (contentType !== undefined) head['content-type'] = contentType;
  if (isLast) head['connection'] = 'close';
  if (typeof body === 'string' && body.length <= SLICE_BYTES) {
    head['content-length'] = Buffer.byteLength(body);
    response.writeHead(status, head).end(body);
  } else if (body === undefined) {
    response.writeHead(status, head).end();
  } else {
    const pieces = typeof body === 'string' ? [Buffer.from(body)] : body;
    head['content-length'] = pieces.reduce((sum, piece) => sum + piece.length, 0);
    response.writeHead(status, head);
    // A caller who hangs up in the middle loses the rest; nobody else is concerned.
    pipeline(Readable.from(slicesOf(pieces)), response).catch(() => undefined);
  }
}

function* slicesOf(pieces: readonly Buffer[]): Generator<Buffer> {
  for (const piece of pieces) {
    for (let start = 0; start < piece.length; start += SLICE_BYTES) {
      yield piece.subarray(start, start + SLICE_BYTES);
    }
  }
}
