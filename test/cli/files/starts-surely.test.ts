import { closeSync, copyFileSync, openSync, readSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { startsSurely } from '../../../src/cli/files/program.ts';
import { replaceProcess } from '../../../src/cli/processes/launch.ts';
import { temporaryDirectory } from '../../store/temporary-store.ts';

const PT_INTERP = 3;
const PT_NULL = 0;

/** The first bytes of this program, which names a loader. */
function ownHead(): Buffer {
  const head = Buffer.alloc(4096);
  const descriptor = openSync(process.execPath, 'r');
  readSync(descriptor, head, 0, head.length, 0);
  closeSync(descriptor);
  return head;
}

/** Where the headers of segments are that have this type. */
function segments(head: Buffer, type: number): readonly number[] {
  const [table, size, count] = [
    Number(head.readBigUInt64LE(32)),
    head.readUInt16LE(54),
    head.readUInt16LE(56),
  ];
  return Array.from({ length: count }, (_, index) => table + index * size).filter(
    (at) => head.readUInt32LE(at) === type,
  );
}

function written(content: Buffer | string): string {
  const path = join(temporaryDirectory(), 'program');
  writeFileSync(path, content, { mode: 0o700 });
  return path;
}

describe.runIf(process.platform === 'linux')('a program that replaces this process', () => {
  afterEach(() => vi.restoreAllMocks());

  const changed = (change: (head: Buffer, interpreter: number) => void): boolean => {
    const head = ownHead();
    change(head, segments(head, PT_INTERP)[0] ?? 0);
    return startsSurely(written(head));
  };

  it('is one for this processor, whose loader is there, or that has none', () => {
    expect(changed(() => undefined)).toBe(true);
    expect(changed((head, at) => head.writeUInt32LE(PT_NULL, at))).toBe(true);
    expect(changed((head, at) => head.write('/nowhere', Number(head.readBigUInt64LE(at + 8))))).toBe(false);
    expect(changed((head) => head.writeUInt16LE(head.readUInt16LE(18) + 1, 18))).toBe(false);
    expect(changed((head) => head.writeUInt8(1, 4))).toBe(false);
    expect(changed((head) => head.writeUInt8(2, 5))).toBe(false);
    expect(changed((head) => head.write('no', 0))).toBe(false);
  });

  it('is no script without an interpreter, or with one that is not certain', () => {
    const isSure = (text: string): boolean => startsSurely(written(text));
    expect(isSure('#!/bin/sh\n')).toBe(true);
    expect(isSure('#! /bin/sh -e\n')).toBe(true);
    expect(isSure(`#!${written('#!/bin/sh\n')}\n`)).toBe(false);
    const fresh = join(temporaryDirectory(), 'interpreter');
    copyFileSync('/bin/sh', fresh);
    expect(isSure(`#!${fresh}\n`)).toBe(false);
    utimesSync(fresh, new Date(), new Date(Date.now() - 61_000));
    expect(isSure(`#!${fresh}\n`)).toBe(true);
    const long = `#!/bin/${'./'.repeat(70)}sh\n`;
    for (const text of ['', 'echo\n', '#!\n', '#!sh\n', '#!/nowhere/sh\n', long])
      expect(isSure(text), text).toBe(false);
  });

  it('is whole, and no object file', () => {
    const table = (head: Buffer): number => Number(head.readBigUInt64LE(32)) + 56 * head.readUInt16LE(56);
    const isSure = (bytes: number): boolean => startsSurely(written(ownHead().subarray(0, bytes)));
    for (const bytes of [0, 3, 20, 63, 64, 100, table(ownHead()) - 1])
      expect(isSure(bytes), `${bytes}`).toBe(false);
    expect(changed((head) => head.writeUInt16LE(1, 16))).toBe(false);
    expect(changed((head) => head.writeUInt16LE(0, 56))).toBe(false);
    expect(changed((head) => head.writeUInt16LE(55, 54))).toBe(false);
    // The name of its loader does not end where its segment ends.
    expect(changed((head, at) => head.writeBigUInt64LE(5n, at + 32))).toBe(false);
  });

  it('has arguments and variables of up to 120 KiB, and is otherwise run as a child', () => {
    const execve = vi.fn();
    const given = process.execve;
    const listening = (): number => process.listenerCount('SIGPIPE') + process.listenerCount('SIGXFSZ');
    const before = listening();
    try {
      Object.assign(process, { execve });
      const path = '/bin/sh';
      const launched = (bytes: number): number => {
        execve.mockClear();
        // Each of "sh" and the variable has a zero after it, and a pointer; this letter has two bytes.
        const value = `é${'x'.repeat(bytes - 2 - 'A='.length - 2 - 2 * 9)}`;
        replaceProcess({ path, words: ['sh'], environment: { A: value } });
        return execve.mock.calls.length;
      };
      const most = 120 * 1024;
      expect([launched(most), launched(most + 1)]).toEqual([1, 0]);
      const launchedFrom = (path: string): number => {
        execve.mockClear();
        replaceProcess({ path, words: ['x'], environment: {} });
        return execve.mock.calls.length;
      };
      expect(launchedFrom('/nowhere/program')).toBe(0);
      expect(listening()).toBe(before + 2);
      // Who has just written it may still have it open.
      const script = written('#!/bin/sh\n');
      expect(launchedFrom(script)).toBe(0);
      utimesSync(script, new Date(), new Date(Date.now() - 61_000));
      expect(launchedFrom(script)).toBe(1);
    } finally {
      Object.assign(process, { execve: given });
      for (const signal of ['SIGPIPE', 'SIGXFSZ']) process.removeAllListeners(signal);
    }
  });
});
