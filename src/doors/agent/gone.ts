import type { Duplex } from 'node:stream';

/** Tells when nobody waits for an answer any more: the connection or stream is closed. */
export function goneSignal(connection: Duplex): AbortSignal {
  const controller = new AbortController();
  connection.once('close', () => controller.abort());
  return controller.signal;
}
