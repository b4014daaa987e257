import { execFileSync } from 'node:child_process';
import { closeSync, constants, openSync, readSync, truncateSync, writeFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { readShortText } from '../../../src/cli/files/input.ts';
import { ClosedPipe, chunksOf, inputFrom, writeWhole } from '../../../src/cli/terminal/streams.ts';
import { pause } from '../../../src/ground/pause.ts';
import { refusal } from '../../refusal.ts';
import { temporaryDirectory } from '../../store/temporary-store.ts';

function opened(path: string, flags: string | number = 'r'): number {
  const descriptor = openSync(path, flags);
  onTestFinished(() => closeSync(descriptor));
  return descriptor;
}

function fileOf(content: string | Buffer): string {
  const path = join(temporaryDirectory(), 'file');
  writeFileSync(path, content);
  return path;
}

/** A pipe with a name, which does not wait to be written to. */
function pipe(): { readonly reading: number; readonly path: string } {
  const path = join(temporaryDirectory(), 'pipe');
  execFileSync('mkfifo', [path]);
  return { path, reading: opened(path, constants.O_RDONLY | constants.O_NONBLOCK) };
}

describe('an input', () => {
  it.each([0, 5, 2 ** 20, 2 ** 20 + 1])(
    'of up to %i bytes is read whole, and refused with a byte more',
    (most) => {
      const bytes = Buffer.alloc(most, 'x');
      expect(
        inputFrom(opened(fileOf(bytes)))
          .readAll(most)
          .equals(bytes),
      ).toBe(true);
      const more = inputFrom(opened(fileOf(Buffer.alloc(most + 1, 'x'))));
      expect(refusal(() => more.readAll(most)).kind).toBe('too-large');
    },
  );

  it.runIf(process.platform === 'linux')(
    'that is a file of a known size is refused before it is read',
    () => {
      const path = fileOf('start');
      truncateSync(path, 2 ** 40);
      const descriptor = opened(path);
      const input = inputFrom(descriptor);
      expect(refusal(() => input.readAll(2 ** 28)).kind).toBe('too-large');
      const start = Buffer.alloc(5);
      expect([input.readNow(start), String(start)]).toEqual([5, 'start']);
    },
  );

  it('of which a command before has read a part is measured by the rest', () => {
    const descriptor = opened(fileOf('0123456789'));
    const input = inputFrom(descriptor);
    readSync(descriptor, Buffer.alloc(5));
    expect(String(input.readAll(5))).toBe('56789');
    const other = opened(fileOf('0123456789'));
    readSync(other, Buffer.alloc(4));
    expect(refusal(() => inputFrom(other).readAll(5)).kind).toBe('too-large');
  });

  it('is one that the user means if it is a file or a pipe, and has a size only if it is a file', () => {
    const told = (descriptor: number) => {
      const { isPiped, bytes, isTerminal, file } = inputFrom(descriptor);
      return { isPiped, bytes, isTerminal, hasFile: file !== undefined };
    };
    expect(told(opened(fileOf('abc')))).toEqual({
      isPiped: true,
      bytes: 3,
      isTerminal: false,
      hasFile: true,
    });
    const none = { bytes: undefined, isTerminal: false, hasFile: false };
    expect(told(opened('/dev/null'))).toEqual({ isPiped: false, ...none });
    expect(told(pipe().reading)).toEqual({ isPiped: true, ...none });
  });

  it('that is a pipe which another program has made not to wait is waited for', async () => {
    const { reading, path } = pipe();
    const writing = opened(path, 'w');
    const into = Buffer.alloc(10);
    const read = inputFrom(reading).read(into);
    await pause(10);
    writeSync(writing, 'late');
    expect([await read, into.toString('utf8', 0, 4)]).toEqual([4, 'late']);
  });

  it('that cannot be read is an error, and not the end', async () => {
    const input = inputFrom(opened(temporaryDirectory()));
    expect(() => input.readNow(Buffer.alloc(1))).toThrow(/EISDIR/);
    await expect(input.read(Buffer.alloc(1))).rejects.toThrow(/EISDIR/);
    await expect(chunksOf(input).next()).rejects.toThrow(/EISDIR/);
  });

  it('of a short text has a limit, is UTF-8, and lacks one line end', () => {
    expect(readShortText(fileOf(`${'x'.repeat(1023)}\n`), 'key', 1024)).toBe('x'.repeat(1023));
    expect(readShortText(fileOf('x\r\n\r\n'), 'key', 1024)).toBe('x\r\n');
    const long = fileOf('x'.repeat(1025));
    expect(refusal(() => readShortText(long, 'key', 1024))).toEqual({
      kind: 'too-large',
      message: `${long} is larger than 1 KiB`,
      field: 'key',
    });
    expect(refusal(() => readShortText(fileOf(Buffer.from([0xff])), 'key', 1024))).toMatchObject({
      kind: 'invalid',
      message: 'the input is not text',
    });
  });
});

it('an output whose reader is gone is a closed pipe, and any other failure is an error of its own', () => {
  const path = join(temporaryDirectory(), 'pipe');
  execFileSync('mkfifo', [path]);
  const reading = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  const writing = opened(path, 'w');
  writeWhole(writing, Buffer.from('x'));
  closeSync(reading);
  expect(() => writeWhole(writing, Buffer.from('x'))).toThrow(ClosedPipe);
  expect(() => writeWhole(opened(fileOf('x')), Buffer.from('x'))).toThrow(/EBADF/);
});
