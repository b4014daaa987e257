/**
 * A load generator in a process of its own: sends one request over and over on several kept connections, each time
 * when the answer to the last one is there. Raw sockets, because a full HTTP client would cost more than the server.
 *
 * Told by the one line of JSON in its first argument; prints one line of JSON.
 */
import { connect } from 'node:net';

export interface Load {
  readonly port: number;
  /** Head and body of the request, as they go over the wire. */
  readonly request: string;
  readonly connections: number;
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
const LENGTH = /content-length: *(\d+)/i;

const load = JSON.parse(process.argv[2] ?? '') as Load;
const request = Buffer.from(load.request);
const latencies: number[] = [];
let isMeasuring = false;

for (let index = 0; index < load.connections; index += 1) drive();

setTimeout(() => {
  isMeasuring = true;
  const start = performance.now();
  setTimeout(() => report((performance.now() - start) / 1000), load.measureMs);
}, load.warmUpMs);

function drive(): void {
  const socket = connect({ port: load.port, host: '127.0.0.1', noDelay: true });
  let sentAt = performance.now();
  /** Bytes of the present answer that are still to come; 0 while its head is awaited. */
  let missing = 0;
  socket.on('connect', () => socket.write(request));
  socket.on('error', (error) => {
    throw error;
  });
  socket.on('data', (chunk) => {
    missing = missing === 0 ? answerLength(chunk) - chunk.length : missing - chunk.length;
    if (missing > 0) return;
    missing = 0;
    const now = performance.now();
    if (isMeasuring) latencies.push(now - sentAt);
    sentAt = now;
    socket.write(request);
  });
}

/** Of head and body. The heads of the servers under test arrive in one piece. */
function answerLength(chunk: Buffer): number {
  const end = chunk.indexOf(HEAD_END);
  const head = chunk.latin1Slice(0, end);
  if (!head.startsWith('HTTP/1.1 200')) throw new Error(`the server answered ${head}`);
  return end + HEAD_END.length + Number(LENGTH.exec(head)?.[1] ?? 0);
}

function report(seconds: number): void {
  const sorted = Float64Array.from(latencies).sort();
  const at = (share: number) => sorted[Math.floor(sorted.length * share)] ?? Number.NaN;
  const measured: Measured = { requests: sorted.length, seconds, p50Ms: at(0.5), p99Ms: at(0.99) };
  process.stdout.write(`${JSON.stringify(measured)}\n`, () => process.exit(0));
}
