import { existsSync, mkdirSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it, onTestFinished } from 'vitest';
import { isFresh, stampFile, stampOf } from '../scripts/built.ts';
import * as heap from '../src/service/heap.ts';
import { durations } from './durations.ts';
import { growsLong, sharesProcess, testFiles } from './kinds.ts';
import * as wholeProcess from './service/whole-process.double.ts';

const root = fileURLToPath(new URL('..', import.meta.url));

it('a test file shares its process unless it, or a module of the tests that it imports, touches what belongs to all of it', () => {
  expect(['test/ground/base64.test.ts', 'test/e2e/answers.test.ts'].map(sharesProcess)).toEqual([true, true]);
  const alone = ['test/main.test.ts', 'test/e2e/passphrase.test.ts', 'test/costs/parsers.test.ts'];
  expect(alone.filter(sharesProcess)).toEqual([]);
  const share = testFiles.filter(sharesProcess).length / testFiles.length;
  expect(share).toBeGreaterThan(0.8);
});

it('a test file runs in the rest of the long proof when it draws by chance, or asks how long the proof is', () => {
  const drawing = ['test/ground/base64.test.ts', 'test/faults/crash/keys.test.ts'];
  expect(drawing.filter((file) => !growsLong(file))).toEqual([]);
  expect(growsLong('test/decisions.test.ts')).toBe(false);
});

it('a test file does not run again in the rest of the long proof when only its keys, teams or passphrases take more work there', () => {
  const same = [
    'test/e2e/agent.test.ts',
    'test/e2e/team.test.ts',
    'test/specification/specification.test.ts',
  ];
  expect(same.filter(growsLong)).toEqual([]);
  expect(growsLong('test/e2e/team-agent.test.ts')).toBe(true);
});

it('what a server does to the heap of its process is left out where tests run servers in theirs', () => {
  expect({ ...heap }).toEqual({ ...wholeProcess });
  expect(heap.boundHeap).toBe(wholeProcess.boundHeap);
});

it('the written durations are of files that there are', () => {
  expect(Object.keys(durations()).filter((path) => !existsSync(join(root, path)))).toEqual([]);
});

it('what was built is built again once a source is another one, was written again, or is gone', () => {
  const directory = mkdtempSync(join(tmpdir(), 'coffer-built-'));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  const source = join(directory, 'package.json');
  const build = (): void => writeFileSync(stampFile(directory), stampOf(directory));
  expect(isFresh(directory)).toBe(false);
  mkdirSync(join(directory, 'dist'));
  const changes: (() => void)[] = [
    () => writeFileSync(source, '{ }'),
    () => utimesSync(source, 1, 1),
    () => rmSync(source),
  ];
  writeFileSync(source, '{}');
  for (const change of changes) {
    build();
    expect(isFresh(directory)).toBe(true);
    change();
    expect(isFresh(directory)).toBe(false);
  }
});
