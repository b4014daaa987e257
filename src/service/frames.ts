import type { Duplex } from 'node:stream';
import { isObject } from '../ground/objects.ts';

/** What is handed to another process, and what comes back: plain JSON, and the bytes that belong to it. */
export interface Job {
  readonly head: object;
  readonly body: readonly Buffer[];
}

/**
 * Jobs between two processes over a pipe: the lengths of a JSON head and of a body, then both. The channel that
 * Node.js has for messages between processes would copy a large body several times, and hold up everything meanwhile.
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
 * Calls `take` with everything that comes.
 * @param mostBytes of one job, both parts together: whoever sends more, or what is no job, finds the pipe closed.
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

/** Bytes as they came, cut without being copied. */
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
