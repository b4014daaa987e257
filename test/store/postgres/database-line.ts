import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';

/** Where the line breaks: before a message reaches the database, in the middle of it, or as the answer comes back. */
export type Break = 'request' | 'middle' | 'answer';

/** Which of the two ways leads nowhere any more, without a word to anybody. */
export type Silent = 'requests' | 'answers' | 'both';

/** A line to a database that can be made slow, or to break at the nth thing that goes through it. */
export class DatabaseLine {
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  #silent: Silent | undefined;
  /** Counts how often what was open then has gone silent. */
  #silences = 0;
  /** New connections are taken, and lead nowhere. */
  isHole = false;
  #requests = 0;
  #breakAt = Number.POSITIVE_INFINITY;
  #where: Break = 'request';
  #share = 0.5;
  /** How long answers are under way. */
  delayMs = 0;

  private constructor(port: number) {
    this.#server = createServer({ noDelay: true }, (near) => {
      if (this.isHole) this.#swallow(near);
      else this.#join(near, connect({ port, host: '127.0.0.1', noDelay: true }));
    });
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

  /**
   * Counts from here, and breaks once at the nth message; connections that are made afterwards hold.
   * @param share of its bytes that still get through when it breaks in the middle.
   */
  breakAt(n: number, where: Break, share = 0.5): void {
    this.#requests = 0;
    this.#breakAt = n;
    this.#where = where;
    this.#share = share;
  }

  /** All connections that are open now go silent for good; new ones are not touched. */
  freeze(silent: Silent): void {
    this.#silent = silent;
    this.#silences++;
  }

  /** All connections that are open now break, and both sides are told. */
  cut(): void {
    for (const socket of this.#sockets) socket.destroy();
  }

  close(): void {
    for (const socket of this.#sockets) socket.destroy();
    this.#server.close();
  }

  #swallow(near: Socket): void {
    this.#sockets.add(near);
    near.on('error', () => near.destroy());
    near.on('close', () => this.#sockets.delete(near));
    near.resume();
  }

  #join(near: Socket, far: Socket): void {
    let isBreaking = false;
    const joined = this.#silences;
    const isSilent = (way: Silent): boolean =>
      this.#silences > joined && (this.#silent === 'both' || this.#silent === way);
    const cut = (): void => {
      if (!isSilent('answers')) near.destroy();
      if (isSilent('requests')) return;
      // What has got through is still done by the database.
      if (isSilent('answers')) far.end();
      else far.destroy();
    };
    for (const socket of [near, far]) {
      this.#sockets.add(socket);
      socket.on('error', cut);
      socket.on('close', cut);
      socket.on('close', () => this.#sockets.delete(socket));
    }
    near.on('data', (bytes) => {
      if (isSilent('requests')) return;
      this.#requests++;
      if (this.#requests === this.#breakAt) {
        if (this.#where === 'request') return cut();
        if (this.#where === 'middle') return void far.end(bytes.subarray(0, this.#share * bytes.length), cut);
        isBreaking = true;
      }
      far.write(bytes);
    });
    far.on('data', (bytes) => {
      if (isSilent('answers')) return;
      if (isBreaking) cut();
      else if (this.delayMs === 0) near.write(bytes);
      else setTimeout(() => near.write(bytes), this.delayMs);
    });
  }
}
