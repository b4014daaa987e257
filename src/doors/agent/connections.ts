import type { Duplex } from 'node:stream';
import { ByteQueue } from '../../ground/byte-queue.ts';

/** Protocol whose requests are answered in order. */
interface TurnProtocol {
  /**
   * Takes the next complete request from the received bytes; undefined if there is none yet.
   * @throws if it is malformed
   */
  take(come: ByteQueue): Buffer | undefined;
  /**
   * Answers a request.
   * @throws if there is no response and the connection must be closed
   */
  answer(request: Buffer): Promise<Buffer>;
}

/**
 * Answers the requests of one connection one after another. Reading is paused while a request is processed, or
 * responses wait to be read: a client that sends and does not read only blocks itself.
 */
export function answerInTurn(connection: Duplex, { take, answer }: TurnProtocol): void {
  const come = new ByteQueue();
  let isBusy = false;
  connection.on('error', () => undefined);
  // Requests before the end are still answered.
  connection.on('end', () => void work());
  connection.on('data', (bytes: Buffer) => {
    come.add(bytes);
    void work();
  });

  async function work(): Promise<void> {
    if (isBusy) return;
    isBusy = true;
    connection.pause();
    try {
      for (let request = take(come); request !== undefined; request = take(come)) {
        const answered = await answer(request);
        if (connection.destroyed) return;
        if (!connection.write(answered)) await drained(connection);
      }
      if (connection.readableEnded) connection.end();
      else connection.resume();
    } catch {
      connection.destroy();
    } finally {
      isBusy = false;
    }
  }
}

function drained(connection: Duplex): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const done = (): void => {
    connection.off('drain', done);
    connection.off('close', done);
    resolve();
  };
  connection.on('drain', done);
  connection.on('close', done);
  return promise;
}

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
