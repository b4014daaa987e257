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

/** Connection with its current response, an internal property of Node. */
export interface BusySocket extends Socket {
  readonly _httpMessage?: ServerResponse | null;
}

/** Responds to malformed HTTP in the form of every other error, then closes the connection. */
export function hangUp(error: ClientError, socket: BusySocket): void {
  const canAnswer = socket.writable && isOurTurn(socket) && error.code !== 'ECONNRESET';
  if (canAnswer) socket.write(printAnswer(STATUS_OF[error.code ?? ''] ?? 400, isForDocuments(error)));
  socket.destroy(error);
}

/**
 * Whether a response written now would belong to the malformed request: not while an earlier one is still being
 * answered, unless the malformed bytes are in its body.
 */
function isOurTurn({ _httpMessage: answer }: BusySocket): boolean {
  return !answer || (!answer.headersSent && !answer.req.complete);
}

/** Whether a client of the JSON:API reads the response, by the first line of the request as far as received. */
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
