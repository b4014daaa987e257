import { connect, type Socket } from 'node:net';
import { setImmediate, setTimeout as sleep } from 'node:timers/promises';
import { connect as connectSecurely } from 'node:tls';

/** Talks to a server byte by byte, to send what no HTTP client would. */

export interface RawAnswer {
  readonly status: number;
  readonly head: string;
  readonly body: string;
}

/** Takes a stream of answers apart. */
export class AnswerReader {
  readonly answers: RawAnswer[] = [];
  #bytes: Buffer = Buffer.alloc(0);

  push(chunk: Buffer): void {
    this.#bytes = Buffer.concat([this.#bytes, chunk]);
    for (let next = this.#next(); next !== undefined; next = this.#next()) {
      if (next.status !== 100) this.answers.push(next);
    }
  }

  #next(): RawAnswer | undefined {
    const end = this.#bytes.indexOf('\r\n\r\n');
    if (end === -1) return undefined;
    const head = this.#bytes.toString('latin1', 0, end);
    const status = Number(head.split(' ')[1]);
    const start = end + 4;
    if (/transfer-encoding: *chunked/i.test(head)) return this.#nextChunked(status, head, start);
    const length = Number(/content-length: *(\d+)/i.exec(head)?.[1] ?? 0);
    if (this.#bytes.length < start + length) return undefined;
    const body = this.#bytes.toString('utf8', start, start + length);
    this.#bytes = this.#bytes.subarray(start + length);
    return { status, head, body };
  }

  /** Of a chunked answer only the end matters here: its body is given as it came. */
  #nextChunked(status: number, head: string, start: number): RawAnswer | undefined {
    const end = this.#bytes.indexOf('0\r\n\r\n', start);
    if (end === -1) return undefined;
    const body = this.#bytes.toString('utf8', start, end);
    this.#bytes = this.#bytes.subarray(end + 5);
    return { status, head, body };
  }
}

export type Step = string | Buffer | { readonly untilAnswers: number } | { readonly run: () => void };

export interface Chat {
  readonly answers: readonly RawAnswer[];
  /** The server hung up. */
  readonly closed: boolean;
}

export interface ChatOptions {
  readonly port: number;
  readonly secure?: boolean;
  /** Waits for so many answers; without it, for the end of the connection. */
  readonly answers?: number;
  /** Between two packets, so that they stay two. */
  readonly gapMs?: number;
  readonly patienceMs?: number;
  /** Closes our side when all is sent. */
  readonly finish?: boolean;
}

/** Sends packets on one connection and gathers what comes back. */
export async function chat(steps: readonly Step[], options: ChatOptions): Promise<Chat> {
  const { answers, gapMs = 8, patienceMs = 20_000 } = options;
  const socket = await open(options);
  const reader = new AnswerReader();
  let closed = false;
  socket.on('data', (chunk: Buffer) => reader.push(chunk));
  socket.on('close', () => {
    closed = true;
  });
  const until = async (done: () => boolean): Promise<void> => {
    const { promise, resolve } = Promise.withResolvers<void>();
    const late = setTimeout(resolve, patienceMs);
    const look = (): void => {
      if (done()) resolve();
    };
    socket.on('data', look).on('close', look);
    look();
    await promise;
    socket.off('data', look).off('close', look);
    clearTimeout(late);
  };
  for (const [index, step] of steps.entries()) {
    if (typeof step === 'string' || Buffer.isBuffer(step)) {
      await new Promise((resolve) => socket.write(step, resolve));
      if (gapMs === 0 || (index === steps.length - 1 && !options.finish)) continue;
      await sleep(gapMs);
      // A server in this process has looked at its sockets since, however long the process stood still.
      await setImmediate();
    } else if ('run' in step) step.run();
    else await until(() => reader.answers.length >= step.untilAnswers);
  }
  if (options.finish) socket.end();
  await until(() => closed || (answers !== undefined && reader.answers.length >= answers));
  socket.destroy();
  return { answers: reader.answers, closed };
}

function open({ port, secure }: ChatOptions): Promise<Socket> {
  const { promise, resolve, reject } = Promise.withResolvers<Socket>();
  const socket = secure
    ? connectSecurely({ port, host: '127.0.0.1', rejectUnauthorized: false }, () => resolve(socket))
    : connect({ port, host: '127.0.0.1', noDelay: true }, () => resolve(socket));
  socket.setNoDelay(true);
  socket.once('error', reject);
  socket.on('error', () => undefined);
  return promise;
}
