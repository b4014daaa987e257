import { duplexPair } from 'node:stream';
import { expect, it } from 'vitest';
import { type Job, readFrames, writeFrame } from '../../src/service/rpc.ts';

/** What arrives of the bytes that `write` sends, and whether the pipe is still open. */
async function received(write: (send: (bytes: Buffer) => void) => void, mostBytes?: number) {
  const [here, there] = duplexPair();
  const jobs: object[] = [];
  readFrames(
    there,
    ({ head, body }: Job) => void jobs.push({ head, body: Buffer.concat(body).toString() }),
    mostBytes,
  );
  there.on('error', () => undefined);
  write((bytes) => void here.write(bytes));
  await new Promise((resolve) => setImmediate(() => setImmediate(resolve)));
  return { jobs, isOpen: !there.destroyed };
}

function framed(head: object | string, body = ''): Buffer {
  const bytes = Buffer.from(typeof head === 'string' ? head : JSON.stringify(head));
  const lengths = Buffer.alloc(8);
  lengths.writeUInt32BE(bytes.length, 0);
  lengths.writeUInt32BE(body.length, 4);
  return Buffer.concat([lengths, bytes, Buffer.from(body)]);
}

it('jobs arrive as they were written, several at once or byte by byte', async () => {
  const both = Buffer.concat([framed({ a: 1 }, 'body'), framed({})]);
  const wanted = {
    jobs: [
      { head: { a: 1 }, body: 'body' },
      { head: {}, body: '' },
    ],
    isOpen: true,
  };
  expect(await received((send) => send(both))).toEqual(wanted);
  const byBytes = (send: (bytes: Buffer) => void): void => {
    for (const byte of both) send(Buffer.from([byte]));
  };
  expect(await received(byBytes)).toEqual(wanted);
  const [here, there] = duplexPair();
  const arrived = new Promise<Job>((resolve) => readFrames(there, resolve));
  writeFrame(here, { head: { a: 1 }, body: [Buffer.from('bo'), Buffer.from('dy')] });
  const { head, body } = await arrived;
  expect([head, Buffer.concat(body).toString()]).toEqual([{ a: 1 }, 'body']);
});

it('a job that is larger than allowed, by one byte, ends the pipe before it has arrived', async () => {
  const frame = framed({ a: 1 }, 'body');
  const most = frame.length - 8;
  expect((await received((send) => send(frame), most)).jobs).toHaveLength(1);
  expect(await received((send) => send(frame.subarray(0, 8)), most - 1)).toEqual({ jobs: [], isOpen: false });
});

it.each(['', '{', '1', 'null'])('a job whose head is %j ends the pipe', async (head) => {
  expect(await received((send) => send(framed(head, 'body')))).toEqual({ jobs: [], isOpen: false });
});
