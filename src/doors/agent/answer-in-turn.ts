import type { Duplex } from 'node:stream';
import { ByteQueue } from './byte-queue.ts';

/** A protocol of requests that are answered in the order in which they came. */
export interface TurnProtocol {
  /** The next whole request, taken out of what has come in; undefined when there is none yet. @throws when it can be none. */
  take(come: ByteQueue): Buffer | undefined;
  /** @throws when nothing is to be answered and the connection must end. */
  answer(request: Buffer): Promise<Buffer>;
}

/**
 * Answers the requests of one connection one after the other. Nothing more is taken in while one is answered, or while answers wait
 * to be read: a client that sends and does not read holds up itself alone.
 */
export function answerInTurn(connection: Duplex, { take, answer }: TurnProtocol): void {
  const come = new ByteQueue();
  let isBusy = false;
  connection.on('error', () => undefined);
  // What was asked by who does not wait for the answer was asked all the same.
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
