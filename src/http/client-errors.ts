import { type Server, type ServerResponse, STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import { errorBody, JSON_TYPE } from './data-envelope.ts';
import { type ClientError, enableList } from './list-method.ts';

/** Serves LIST, and answers what is no HTTP request in the form of every other error, then hangs up. */
export function answerClientErrors(server: Server): void {
  // The framework's own listener would answer a LIST before its bytes are parsed again.
  server.removeAllListeners('clientError');
  enableList(server, hangUp);
}

const STATUS_OF: Readonly<Record<string, number>> = {
  HPE_HEADER_OVERFLOW: 431,
  ERR_HTTP_REQUEST_TIMEOUT: 408,
};

interface BusySocket extends Socket {
  readonly _httpMessage?: ServerResponse | null;
}

function hangUp(error: ClientError, socket: BusySocket): void {
  // With an answer under way, anything written now would be taken for a part of it.
  const canAnswer = socket.writable && !socket._httpMessage && error.code !== 'ECONNRESET';
  if (canAnswer) socket.write(printAnswer(STATUS_OF[error.code ?? ''] ?? 400));
  socket.destroy(error);
}

function printAnswer(status: number): string {
  const reason = STATUS_CODES[status] ?? '';
  const body = String(errorBody(status, [reason.toLowerCase()]).body);
  return [
    `HTTP/1.1 ${status} ${reason}`,
    'Connection: close',
    `Content-Type: ${JSON_TYPE}`,
    `Content-Length: ${Buffer.byteLength(body)}`,
    '',
    body,
  ].join('\r\n');
}
