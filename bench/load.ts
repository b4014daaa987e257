/**
 * A load generator in a process of its own: sends one request over and over on several kept connections. Raw sockets,
 * because a full HTTP client would cost more than the server, and there may be no core left for it.
 *
 * Told by the one line of JSON in its first argument; prints one line of JSON.
 */
import { connect } from 'node:net';

export interface Load {
  readonly port: number;
  /** Head and body of the request, as they go over the wire. Every answer to it must have the same length. */
  readonly request: string;
  readonly connections: number;
  /** Requests under way on each connection; above 1 they are pipelined, which spares the generator most of its work. */
  readonly depth: number;
  readonly warmUpMs: number;
  readonly measureMs: number;
}

export interface Measured {
  readonly requests: number;
  readonly seconds: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
}

const HEAD_END = Buffer.from('\r\n\r\n');
const LAST_CHUNK = Buffer.from('\r\n0\r\n\r\n');
const LENGTH = /content-length: *(\d+)/i;
const STATUS = 'HTTP/1.1 200';

const load = JSON.parse(process.argv[2] ?? '') as Load;
const request = Buffer.from(load.request);
const requests = Buffer.concat(Array.from({ length: load.depth }, () => request));
const latencies: number[] = [];
let isMeasuring = false;
/** Of one answer, in bytes; known from the first one. */
let answerLength = 0;

for (let index = 0; index < load.connections; index += 1) drive();

setTimeout(() => {
  isMeasuring = true;
  const start = performance.now();
  setTimeout(() => report((performance.now() - start) / 1000), load.measureMs);
}, load.warmUpMs);

function drive(): void {
  const socket = connect({ port: load.port, host: '127.0.0.1', noDelay: true });
  let sentAt = performance.now();
  let received = 0;
  /** What came of the first answers, until it is known how long one is. */
  let first = Buffer.alloc(0);
  socket.on('connect', () => socket.write(requests));
  socket.on('error', (error) => {
    throw error;
  });
  socket.on('data', (chunk) => {
    if (received === 0) checkStatus(chunk);
    received += chunk.length;
    if (answerLength === 0) {
      first = Buffer.concat([first, chunk]);
      answerLength = lengthOfFirst(first);
      if (answerLength === 0) return;
    }
    if (received < answerLength * load.depth) return;
    if (received > answerLength * load.depth) throw new Error('the answers differ in length');
    received = 0;
    const now = performance.now();
    if (isMeasuring) for (let count = 0; count < load.depth; count += 1) latencies.push(now - sentAt);
    sentAt = now;
    socket.write(requests);
  });
}

/** The status line arrives in one piece from the servers under test. */
function checkStatus(chunk: Buffer): void {
  if (chunk.toString('latin1', 0, STATUS.length) !== STATUS) throw new Error(`the server answered ${chunk}`);
}

/** Of the answer that the bytes begin with; 0 while that can't be told. One in chunks ends with an empty one. */
function lengthOfFirst(bytes: Buffer): number {
  const end = bytes.indexOf(HEAD_END);
  if (end === -1) return 0;
  const length = LENGTH.exec(bytes.toString('latin1', 0, end))?.[1];
  if (length !== undefined) return end + HEAD_END.length + Number(length);
  const last = bytes.indexOf(LAST_CHUNK, end);
  return last === -1 ? 0 : last + LAST_CHUNK.length;
}

function report(seconds: number): void {
  const sorted = Float64Array.from(latencies).sort();
  const at = (share: number) => sorted[Math.floor(sorted.length * share)] ?? Number.NaN;
  const measured: Measured = { requests: sorted.length, seconds, p50Ms: at(0.5), p99Ms: at(0.99) };
  process.stdout.write(`${JSON.stringify(measured)}\n`, () => process.exit(0));
}
