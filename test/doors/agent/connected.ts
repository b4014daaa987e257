import { once } from 'node:events';
import { Duplex } from 'node:stream';

/** A connection to a door, without a socket: what is sent goes in, and what is answered is kept. */
export class Connected {
  readonly #answers: Buffer[] = [];
  readonly #connection: Duplex;

  constructor(take: (connection: Duplex) => void) {
    const answers = this.#answers;
    this.#connection = new Duplex({
      read: () => undefined,
      write(chunk: Buffer, _, done) {
        answers.push(chunk);
        done();
      },
    });
    take(this.#connection);
  }

  /** @returns all that was answered, once everything is worked off or the door has ended the connection. */
  async send(...pieces: readonly Uint8Array[]): Promise<Buffer> {
    const gone = this.#connection.destroyed ? undefined : once(this.#connection, 'close');
    for (const piece of pieces) if (!this.#connection.destroyed) this.#connection.push(piece);
    if (!this.#connection.destroyed) this.#connection.push(null);
    await gone;
    return Buffer.concat(this.#answers);
  }
}
