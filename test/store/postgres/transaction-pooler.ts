import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';
import type { Database } from './database.ts';

const TLS_REQUEST = 80_877_103;
const NO_TLS = 'N';
const LENGTH_BYTES = 4;
const TYPE_BYTES = 1;
const AUTHENTICATED = Buffer.from('R\0\0\0\x08\0\0\0\0', 'latin1');
const READY = Buffer.from('Z\0\0\0\x05I', 'latin1');
const PROTOCOL_3 = 196_608;

/** One of those who came. */
interface Caller {
  readonly socket: Socket;
  /** Not sent to a session yet. */
  pending: Buffer[];
}

/** A session of the database, and whose it is until the end of his transaction. */
interface Session {
  readonly socket: Socket;
  owner: Caller | undefined;
  /** Questions whose end was not answered yet. */
  open: number;
}

/** What a pooler in transaction mode does: few sessions of the database, each lent to a caller for one transaction. */
export class TransactionPooler {
  readonly #server: Server;
  readonly #sessions: Session[] = [];
  readonly #callers: Caller[] = [];
  readonly #settings: Buffer[] = [];
  #turn = 0;

  private constructor() {
    this.#server = createServer({ noDelay: true }, (socket) => this.#welcome(socket));
  }

  /** @param sessions which are lent in turns. */
  static async to(database: Database, sessions: number): Promise<TransactionPooler> {
    const pooler = new TransactionPooler();
    for (let i = 0; i < sessions; i++) await pooler.#open(database);
    pooler.#server.listen(0, '127.0.0.1');
    await once(pooler.#server, 'listening');
    return pooler;
  }

  get port(): number {
    const address = this.#server.address();
    return typeof address === 'object' && address !== null ? address.port : 0;
  }

  close(): void {
    for (const { socket } of [...this.#sessions, ...this.#callers]) socket.destroy();
    this.#server.close();
  }

  async #open({ socketPath, name }: Database): Promise<void> {
    const socket = connect(socketPath);
    const session: Session = { socket, owner: undefined, open: 0 };
    const ready = Promise.withResolvers<void>();
    socket.on('error', ready.reject);
    const isFirst = this.#sessions.length === 0;
    const messages = new Messages((message) => {
      const type = String.fromCharCode(message[0] ?? 0);
      if (type === 'Z') ready.resolve();
      if (type === 'S' && isFirst && !this.#sessions.includes(session)) this.#settings.push(message);
      this.#answer(session, type, message);
    });
    socket.on('data', (bytes) => messages.take(bytes));
    const words = Buffer.from(`user\0admin\0database\0${name}\0\0`);
    const head = Buffer.alloc(2 * LENGTH_BYTES);
    head.writeInt32BE(head.length + words.length, 0);
    head.writeInt32BE(PROTOCOL_3, LENGTH_BYTES);
    socket.write(Buffer.concat([head, words]));
    await ready.promise;
    this.#sessions.push(session);
  }

  #answer(session: Session, type: string, message: Buffer): void {
    session.owner?.socket.write(message);
    if (type !== 'Z' || session.owner === undefined) return;
    session.open--;
    const isInTransaction = message.at(-1) !== 'I'.charCodeAt(0);
    if (session.open > 0 || isInTransaction) return;
    session.owner = undefined;
    this.#lend();
  }

  #welcome(socket: Socket): void {
    const caller: Caller = { socket, pending: [] };
    this.#callers.push(caller);
    socket.on('error', () => socket.destroy());
    const messages = new Messages((message) => {
      // A goodbye is for the pooler.
      if (message[0] === 'X'.charCodeAt(0)) return void socket.end();
      caller.pending.push(message);
      this.#lend();
    });
    const start = (bytes: Buffer): void => {
      if (bytes.readInt32BE(LENGTH_BYTES) === TLS_REQUEST) {
        socket.write(NO_TLS);
        socket.once('data', start);
        return;
      }
      socket.write(Buffer.concat([AUTHENTICATED, ...this.#settings, READY]));
      socket.on('data', (more) => messages.take(more));
    };
    socket.once('data', start);
  }

  /** Gives sessions to those who ask something, and sends on what is asked by those who have one. */
  #lend(): void {
    for (const caller of this.#callers.filter(({ pending }) => pending.length > 0)) {
      const session = this.#sessions.find(({ owner }) => owner === caller) ?? this.#nextFree();
      if (session === undefined) return;
      session.owner = caller;
      const asked = caller.pending;
      caller.pending = [];
      session.open += asked.filter(([type]) => 'QS'.includes(String.fromCharCode(type ?? 0))).length;
      session.socket.write(Buffer.concat(asked));
    }
  }

  #nextFree(): Session | undefined {
    for (let i = 0; i < this.#sessions.length; i++) {
      const session = this.#sessions[this.#turn++ % this.#sessions.length];
      if (session !== undefined && session.owner === undefined) return session;
    }
    return undefined;
  }
}

/** Puts together the messages of which bytes are part. */
class Messages {
  readonly #use: (message: Buffer) => void;
  #rest: Buffer = Buffer.alloc(0);

  constructor(use: (message: Buffer) => void) {
    this.#use = use;
  }

  take(bytes: Buffer): void {
    this.#rest = Buffer.concat([this.#rest, bytes]);
    while (this.#rest.length >= TYPE_BYTES + LENGTH_BYTES) {
      const length = TYPE_BYTES + this.#rest.readInt32BE(TYPE_BYTES);
      if (this.#rest.length < length) return;
      const message = this.#rest.subarray(0, length);
      this.#rest = this.#rest.subarray(length);
      this.#use(message);
    }
  }
}
