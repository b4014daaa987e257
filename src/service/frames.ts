import type { Duplex } from 'node:stream';
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
  const waiting = new Chunks();
  let lengths: readonly [head: number, body: number] | undefined;
  pipe.on('data', (chunk: Buffer) => {
    waiting.push(chunk);
    for (;;) {
      if (lengths === undefined) {
        if (waiting.length < LENGTHS_BYTES) return;
        const bytes = Buffer.concat(waiting.take(LENGTHS_BYTES));
        lengths = [bytes.readUInt32BE(0), bytes.readUInt32BE(4)];
      }
      const [headBytes, bodyBytes] = lengths;
      if (headBytes + bodyBytes > mostBytes) {
        pipe.destroy();
        return;
      }
      if (waiting.length < headBytes + bodyBytes) return;
      lengths = undefined;
      const head = parseHead(Buffer.concat(waiting.take(headBytes)));
      if (head === undefined) {
        pipe.destroy();
        return;
      }
      take({ head, body: waiting.take(bodyBytes) });
    }
  });
}

function parseHead(bytes: Buffer): object | undefined {
  try {
    const head: unknown = JSON.parse(bytes.toString());
    return isObject(head) ? head : undefined;
  } catch {
    return undefined;
  }
}

/** Received bytes, split without copying. */
class Chunks {
  #chunks: Buffer[] = [];
  length = 0;

  push(chunk: Buffer): void {
    this.#chunks.push(chunk);
    this.length += chunk.length;
  }

  take(bytes: number): Buffer[] {
    const taken: Buffer[] = [];
    let missing = bytes;
    let used = 0;
    for (const chunk of this.#chunks) {
      if (missing === 0) break;
      taken.push(chunk.subarray(0, missing));
      if (chunk.length > missing) {
        this.#chunks[used] = chunk.subarray(missing);
        break;
      }
      missing -= chunk.length;
      used += 1;
    }
    this.#chunks = this.#chunks.slice(used);
    this.length -= bytes;
    return taken;
  }
}
