import type { Duplex } from 'node:stream';

/** Tells when nobody waits for an answer any more: the connection or stream is closed. */
export function goneSignal(connection: Duplex): AbortSignal {
  const controller = new AbortController();
  connection.once('close', () => controller.abort());
  return controller.signal;
}

/**
 * The same for clients that keep their side open until they have the answer, as those of ssh-agent and age do: one that has ended it
 * has gone, though the connection can still be written to.
 */
export function hungUpSignal(connection: Duplex): AbortSignal {
  const controller = new AbortController();
  connection.once('end', () => controller.abort());
  return AbortSignal.any([controller.signal, goneSignal(connection)]);
}
