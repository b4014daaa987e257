import { type ServerResponse, STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import { errorDocument } from './json-api/documents.ts';
import { JSON_API_PREFIX } from './json-api/prefix.ts';
import type { ClientError } from './list-method.ts';
import { errorBody, JSON_TYPE } from './vault/envelope.ts';

const STATUS_OF: Readonly<Record<string, number>> = {
  HPE_HEADER_OVERFLOW: 431,
  ERR_HTTP_REQUEST_TIMEOUT: 408,
};

/** Of a connection, the answer that is being given on it: a part of the platform that is not public. */
export interface BusySocket extends Socket {
  readonly _httpMessage?: ServerResponse | null;
}

/** Answers what is no HTTP request in the form of every other error, then hangs up. */
export function hangUp(error: ClientError, socket: BusySocket): void {
  const canAnswer = socket.writable && isOurTurn(socket) && error.code !== 'ECONNRESET';
  if (canAnswer) socket.write(printAnswer(STATUS_OF[error.code ?? ''] ?? 400, isForDocuments(error)));
  socket.destroy(error);
}

/**
 * Whether what is written now would be read as the answer to the bad request: not while an earlier one is still being
 * answered, but well when the bad bytes are in the body of the one that is.
 */
function isOurTurn({ _httpMessage: answer }: BusySocket): boolean {
  return !answer || (!answer.headersSent && !answer.req.complete);
}

/** The first line of the request, as far as it came, says whose clients are to read the answer. */
const isForDocuments = ({ rawPacket }: ClientError): boolean =>
  rawPacket?.subarray(0, FIRST_LINE_BYTES).toString('latin1').split(' ')[1]?.startsWith(JSON_API_PREFIX) ??
  false;

const FIRST_LINE_BYTES = 64;

function printAnswer(status: number, isDocument: boolean): string {
  const reason = STATUS_CODES[status] ?? '';
  const answer = isDocument ? errorDocument(status) : errorBody(status, [reason.toLowerCase()]);
  const body = String(answer.body);
  return [
    `HTTP/1.1 ${status} ${reason}`,
    'Connection: close',
    `Content-Type: ${answer.contentType ?? JSON_TYPE}`,
    `Content-Length: ${Buffer.byteLength(body)}`,
    '',
    body,
  ].join('\r\n');
}
