import type { Duplex } from 'node:stream';
import { ByteQueue } from '../ground/byte-queue.ts';
import { asCofferError, attempt, CofferError, ownWords, unavailable } from '../ground/errors.ts';
import { isObject } from '../ground/objects.ts';

/** End of a channel between two processes: `process` in a child, the child's handle in its parent. */
export interface Port {
  send(message: object): void;
  onMessage(listener: (message: unknown) => void): void;
}

interface MessagingProcess {
  send?(message: object): unknown;
  on(event: 'message', listener: (message: unknown) => void): unknown;
  readonly connected: boolean;
}

/** Wraps the channel that Node opens between a process and a child. */
export const portOf = (peer: MessagingProcess): Port => ({
  send(message) {
    if (peer.connected) peer.send?.(message);
  },
  onMessage: (listener) => void peer.on('message', listener),
});

type Handlers = Readonly<Record<string, (argument: unknown) => Promise<unknown>>>;

/** Methods that another process may call: at most one argument, and plain JSON both ways. */
type Callable<T> = {
  [Name in keyof T]: T[Name] extends (argument: never) => Promise<unknown> ? Name : never;
}[keyof T];

/** Callable part of a `T` in another process. */
type Remote<T> = Pick<T, Callable<T>>;

/** Names of these methods, which types alone do not provide at run time. */
export type CallNames<T> = Readonly<Record<Callable<T>, true>>;

/**
 * Creates a client for a `T` that the other side offers. Its methods throw like `Rpc.call`.
 * @returns the client
 */
export const remote = <T>(rpc: Pick<Rpc, 'call'>, calls: CallNames<T>): Remote<T> =>
  Object.fromEntries(
    Object.keys(calls).map((name) => [name, (argument?: unknown) => rpc.call(name, argument)]),
  ) as Remote<T>;

/** Offers a `T` to the other side. */
export const offer = <T>(target: Remote<T>, calls: CallNames<T>): Handlers =>
  Object.fromEntries(
    Object.keys(calls).map((name) => [name, (argument) => (target as Handlers)[name]?.(argument)]),
  ) as Handlers;

type Message =
  | { readonly call: number; readonly method: string; readonly argument: unknown }
  | { readonly answer: number; readonly value: unknown }
  | { readonly answer: number; readonly error: SentError };

type SentError = ReturnType<typeof sent>;

/** RPC between the processes of one server, in both directions. Arguments and results are plain JSON. */
export class Rpc {
  readonly #port: Port;
  readonly #handlers: Handlers;
  readonly #waiting = new Map<number, PromiseWithResolvers<unknown>>();
  #calls = 0;
  readonly #gone: string;
  #closed = false;

  /** @param gone error message once the other process has exited */
  constructor(port: Port, handlers: Handlers, gone = 'a server process exited') {
    this.#gone = gone;
    this.#port = port;
    this.#handlers = handlers;
    port.onMessage((message) => {
      if (isMessage(message)) this.#receive(message);
    });
  }

  /**
   * Calls a method.
   * @throws the error that the other side raised; `unavailable` if it is gone
   */
  async call(method: string, argument: unknown = null): Promise<unknown> {
    if (this.#closed) throw unavailable(this.#gone);
    const number = ++this.#calls;
    const waiting = Promise.withResolvers<unknown>();
    this.#waiting.set(number, waiting);
    this.#port.send({ call: number, method, argument });
    return waiting.promise;
  }

  /** Called when the other side has exited. */
  close(): void {
    this.#closed = true;
    for (const waiting of this.#waiting.values()) waiting.reject(unavailable(this.#gone));
    this.#waiting.clear();
  }

  #receive(message: Message): void {
    if ('call' in message) {
      void this.#serve(message.call, message.method, message.argument);
      return;
    }
    const waiting = this.#waiting.get(message.answer);
    this.#waiting.delete(message.answer);
    if ('error' in message) waiting?.reject(revive(message.error));
    else waiting?.resolve(message.value);
  }

  async #serve(call: number, method: string, argument: unknown): Promise<void> {
    let reply: object;
    try {
      const handler = Object.hasOwn(this.#handlers, method) ? this.#handlers[method] : undefined;
      if (handler === undefined) throw new Error(`no handler for "${method}"`);
      reply = { answer: call, value: (await handler(argument)) ?? null };
    } catch (error) {
      reply = { answer: call, error: sent(error) };
    }
    if (!this.#closed) this.#port.send(reply);
  }
}

function sent(error: unknown) {
  const { kind, texts, field } = asCofferError(error) ?? unavailable(ownWords('internal error'));
  return { kind, texts, field };
}

const revive = ({ kind, texts: { message, hint }, field }: SentError): CofferError =>
  new CofferError(kind, message, { field, hint });

/** Whether a message is a call that expects a response. */
export const isCall = (message: unknown): boolean => isMessage(message) && 'call' in message;

const isMessage = (message: unknown): message is Message =>
  typeof message === 'object' && message !== null && ('call' in message || 'answer' in message);

/** Job for another process, or its result: plain JSON, and the bytes that belong to it. */
export interface Job {
  readonly head: object;
  readonly body: readonly Buffer[];
}

/**
 * Writes jobs to a pipe between two processes: the lengths of a JSON head and of a body, then both. Node's own message
 * channel would copy a large body several times, and block everything else meanwhile.
 */
export function writeFrame(pipe: Duplex, { head, body }: Job): void {
  const headBytes = Buffer.from(JSON.stringify(head));
  const lengths = Buffer.alloc(LENGTHS_BYTES);
  lengths.writeUInt32BE(headBytes.length, 0);
  lengths.writeUInt32BE(
    body.reduce((sum, chunk) => sum + chunk.length, 0),
    4,
  );
  pipe.cork();
  for (const chunk of [lengths, headBytes, ...body]) pipe.write(chunk);
  pipe.uncork();
}

const LENGTHS_BYTES = 8;

/**
 * Calls `take` with every received job.
 * @param mostBytes maximum size of one job, both parts together: the pipe is closed if a job is larger or malformed
 */
export function readFrames(
  pipe: Duplex,
  take: (job: Job) => void,
  mostBytes = Number.POSITIVE_INFINITY,
): void {
  const waiting = new ByteQueue();
  let lengths: readonly [head: number, body: number] | undefined;
  pipe.on('data', (chunk: Buffer) => {
    waiting.add(chunk);
    for (;;) {
      if (lengths === undefined) {
        const bytes = waiting.take(LENGTHS_BYTES);
        if (bytes === undefined) return;
        lengths = [bytes.readUInt32BE(0), bytes.readUInt32BE(4)];
      }
      const [headBytes, bodyBytes] = lengths;
      if (headBytes + bodyBytes > mostBytes) {
        pipe.destroy();
        return;
      }
      if (waiting.length < headBytes + bodyBytes) return;
      lengths = undefined;
      const head = parseHead(waiting.take(headBytes));
      const body = waiting.takePieces(bodyBytes);
      if (head === undefined || body === undefined) {
        pipe.destroy();
        return;
      }
      take({ head, body });
    }
  });
}

function parseHead(bytes: Buffer | undefined): object | undefined {
  const head: unknown = attempt(() => JSON.parse(String(bytes)));
  return isObject(head) ? head : undefined;
}
