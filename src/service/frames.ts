import type { Duplex } from 'node:stream';
import { ByteQueue } from '../ground/byte-queue.ts';
import { attempt } from '../ground/errors.ts';
import { isObject } from '../ground/objects.ts';

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
