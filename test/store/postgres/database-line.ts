import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';

/** Where the line breaks: as a message reaches the database, or as the answer to it comes back. */
export type Break = 'request' | 'answer';

/** A line to a database that can be made slow, or to break at the nth thing that goes through it. */
export class DatabaseLine {
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  #requests = 0;
  #breakAt = Number.POSITIVE_INFINITY;
  #where: Break = 'request';
  /** How long answers are under way. */
  delayMs = 0;

  private constructor(port: number) {
    this.#server = createServer((near) =>
      this.#join(near, connect({ port, host: '127.0.0.1', noDelay: true })),
    );
  }

  static async to(port: number): Promise<DatabaseLine> {
    const line = new DatabaseLine(port);
    line.#server.listen(0, '127.0.0.1');
    await once(line.#server, 'listening');
    return line;
  }

  get port(): number {
    const address = this.#server.address();
    return typeof address === 'object' && address !== null ? address.port : 0;
  }

  /** How many messages went to the database. */
  get requests(): number {
    return this.#requests;
  }

  /** Counts from here, and breaks once at the nth message; connections that are made afterwards hold. */
  breakAt(n: number, where: Break): void {
    this.#requests = 0;
    this.#breakAt = n;
    this.#where = where;
  }

  close(): void {
    for (const socket of this.#sockets) socket.destroy();
    this.#server.close();
  }

  #join(near: Socket, far: Socket): void {
    let isBreaking = false;
    const cut = (): void => {
      near.destroy();
      far.destroy();
    };
    for (const socket of [near, far]) {
      this.#sockets.add(socket);
      socket.on('error', cut);
      socket.on('close', cut);
    }
    near.on('data', (bytes) => {
      this.#requests++;
      if (this.#requests === this.#breakAt) {
        if (this.#where === 'request') return cut();
        isBreaking = true;
      }
      far.write(bytes);
    });
    far.on('data', (bytes) => {
      if (isBreaking) cut();
      else if (this.delayMs === 0) near.write(bytes);
      else setTimeout(() => near.write(bytes), this.delayMs);
    });
  }
}
