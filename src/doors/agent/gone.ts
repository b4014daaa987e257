import type { Duplex } from 'node:stream';

/** Creates a signal that is aborted when the connection or stream is closed. */
export function goneSignal(connection: Duplex): AbortSignal {
  const controller = new AbortController();
  connection.once('close', () => controller.abort());
  return controller.signal;
}

/**
 * Creates such a signal for clients that keep their side of the connection open until they have the response, such as
 * those of ssh-agent and age: one that has ended its side is gone, although the connection is still writable.
 */
export function hungUpSignal(connection: Duplex): AbortSignal {
  const controller = new AbortController();
  connection.once('end', () => controller.abort());
  return AbortSignal.any([controller.signal, goneSignal(connection)]);
}
