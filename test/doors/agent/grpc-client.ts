import { once } from 'node:events';
import { type ClientHttp2Session, connect as connectHttp2 } from 'node:http2';
import { connect } from 'node:net';
import { type ProtobufFields, parseFields } from '../../../src/doors/agent/grpc/protobuf.ts';

/** One call of gRPC with one message each way, as its clients make it. */

/** A message with what stands before it. */
export function framed(message: Buffer): Buffer {
  const prefix = Buffer.alloc(5);
  prefix.writeUInt32BE(message.length, 1);
  return Buffer.concat([prefix, message]);
}

export function grpcSession(path: string): ClientHttp2Session {
  const session = connectHttp2('http://localhost', { createConnection: () => connect(path) });
  session.on('error', () => undefined);
  return session;
}

export async function call(
  session: ClientHttp2Session,
  path: string,
  body: Buffer,
): Promise<{ readonly status: number; readonly message: string; readonly fields: ProtobufFields }> {
  const stream = session.request({
    ':method': 'POST',
    ':path': path,
    'content-type': 'application/grpc',
    te: 'trailers',
  });
  let status: unknown;
  let message: unknown;
  const note = (headers: Record<string, unknown>): void => {
    status ??= headers['grpc-status'];
    message ??= headers['grpc-message'];
  };
  stream.on('response', note);
  stream.on('trailers', note);
  const pieces: Buffer[] = [];
  stream.on('data', (piece: Buffer) => pieces.push(piece));
  stream.end(body);
  await once(stream, 'close');
  const bytes = Buffer.concat(pieces).subarray(5);
  return {
    status: Number(status),
    message: decodeURIComponent(String(message ?? '')),
    fields: parseFields(bytes),
  };
}
