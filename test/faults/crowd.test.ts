import { type ChildProcess, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { afterEach, describe, expect, inject, it } from 'vitest';
import { isLong } from '../long.ts';
import { ROUNDS } from './conditions/crowd.ts';
import type { Counter } from './conditions/writer.ts';
import { ailments, leftovers, pictureOf } from './picture.ts';
import { questionsOf, READINGS } from './questions.ts';
import type { Sandbox } from './sandbox.ts';
import { Tally } from './tally.ts';
import { usualTemplate } from './template.ts';

const MEMBERS = isLong ? 64 : 6;
const READERS = isLong ? 24 : 3;
const WRITERS = 3;
const BACKUPS = isLong ? 12 : 2;

const template = usualTemplate();
const running = new Set<ChildProcess>();
afterEach(async () => {
  for (const child of running) child.kill('SIGKILL');
});

interface Process {
  readonly child: ChildProcess;
  readonly lines: string[];
  /** Resolves with the number of lines once there are so many; rejects when the process ends before. */
  said(lines: number): Promise<void>;
  readonly ended: Promise<{ readonly code: number | null; readonly stderr: string }>;
}

function start(condition: string, box: Sandbox, ...words: readonly string[]): Process {
  const child = spawn(process.execPath, [inject('conditions'), condition, box.root, ...words], {
    env: { ...process.env, NODE_COMPILE_CACHE: `${inject('command')}.cache` },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  running.add(child);
  const lines: string[] = [];
  const listeners = new Set<() => void>();
  createInterface({ input: child.stdout }).on('line', (line) => {
    lines.push(line);
    for (const listener of listeners) listener();
  });
  let stderr = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
  });
  const ended = new Promise<{ code: number | null; stderr: string }>((resolve) => {
    child.on('close', (code) => {
      running.delete(child);
      resolve({ code, stderr });
    });
  });
  const said = (count: number): Promise<void> =>
    new Promise((resolve, reject) => {
      const look = (): void => {
        if (lines.length >= count) resolve();
      };
      listeners.add(look);
      look();
      void ended.then(({ stderr: why }) => reject(new Error(`it ended after ${lines.length} lines: ${why}`)));
    });
  return { child, lines, said, ended };
}

describe(`${MEMBERS} processes at once`, () => {
  it('lose nothing of what they were told is done, and leave no gap', async () => {
    const box = template().copy();
    const members = Array.from({ length: MEMBERS }, (_, member) => start('crowd', box, String(member)));
    const ends = await Promise.all(members.map(({ ended }) => ended));
    const tally = new Tally();
    for (const [member, end] of ends.entries()) {
      await tally.after(`process ${member}`, () => {
        expect(end).toEqual({ code: 0, stderr: '' });
        expect(members[member]?.lines).toHaveLength(6 * ROUNDS);
      });
    }
    await tally.after('all of them', async () => {
      const works = MEMBERS * ROUNDS;
      const { keys } = JSON.parse(await box.ok(['transit', 'keys', 'list', '-o', 'json'])) as {
        keys: string[];
      };
      expect(keys.filter((name) => /^(key|upserted)-/.test(name))).toHaveLength(2 * works);
      const letters = JSON.parse(await box.ok(['transit', 'keys', 'read', 'letters', '-o', 'json']));
      expect(Object.keys(letters.keys).map(Number)).toEqual(
        Array.from({ length: 2 + works }, (_, i) => i + 1),
      );
      for (const workspace of ['alpha', 'beta']) {
        const tags = await box.ok(['tags', 'of', workspace, '--all', '-o', 'json']);
        expect(tags.match(/"tag-\d+-\d+"/g)).toHaveLength(works);
      }
      for (const { lines } of members) {
        const { result } = JSON.parse(lines[2] ?? '{}') as { result: string };
        expect(await box.ok(['transit', 'decrypt', 'letters', result])).toMatch(/^text of \d+$/);
      }
      expect(await ailments(box.store)).toEqual([]);
      expect(leftovers(box.store)).toEqual([]);
    });
    box.remove();
    tally.settle();
  });
});

describe(`${READERS} readers among ${MEMBERS} writers`, () => {
  it('are all answered, and need the lock for nothing but looking at the whole store', async () => {
    const box = template().copy();
    const ciphertext = readFileSync(box.at('ciphertext'), 'utf8');
    const writers = Array.from({ length: MEMBERS }, (_, member) => start('crowd', box, String(member)));
    const readers = Array.from({ length: READERS }, () => start('reader', box, ciphertext));
    const tally = new Tally();
    for (const [index, { ended, lines }] of readers.entries()) {
      const end = await ended;
      await tally.after(`reader ${index}`, () => {
        if (end.code !== 0) throw new Error(end.stderr);
        expect(lines).toHaveLength(READINGS * questionsOf(box, ciphertext).length);
      });
    }
    for (const { child } of writers) child.kill('SIGKILL');
    await Promise.all(writers.map(({ ended }) => ended));
    await tally.after('the writers are killed', async () => expect(await ailments(box.store)).toEqual([]));
    box.remove();
    tally.settle();
  });
});

describe('a backup taken while others write', () => {
  it('is of one moment, not older than what was acknowledged before it, and can be restored while they go on', async () => {
    const box = template().copy();
    const writers = Array.from({ length: WRITERS }, () => start('writer', box));
    await Promise.all(writers.map(({ said }) => said(1)));
    const acknowledged = (): number => Math.max(...writers.flatMap(({ lines }) => lines.map(Number)));
    const tally = new Tally();
    for (let round = 0; round < BACKUPS; round++) {
      const least = acknowledged();
      await box.ok(['store', 'backup', box.at(`backup-${round}`)]);
      await box.ok(['store', 'restore', box.at(`backup-${round}`), '--store', box.at(`restored-${round}`)]);
      await tally.after(`backup ${round}`, async () => {
        expect(await ailments(box.at(`restored-${round}`))).toEqual([]);
        const { left, right } = await countersIn(box.at(`restored-${round}`));
        expect(left).toBe(right);
        expect(left).toBeGreaterThanOrEqual(least);
      });
      const [first] = writers;
      await first?.said(first.lines.length + 1);
    }
    for (const { child } of writers) child.kill('SIGKILL');
    await Promise.all(writers.map(({ ended }) => ended));
    await tally.after('the writers are killed', async () => {
      const { left, right } = await countersIn(box.store);
      expect(left).toBe(right);
      expect(left).toBeGreaterThanOrEqual(acknowledged());
      expect(await ailments(box.store)).toEqual([]);
    });
    box.remove();
    tally.settle();
  });
});

async function countersIn(directory: string): Promise<{ readonly left: number; readonly right: number }> {
  const { files } = JSON.parse(await pictureOf(directory)) as { files: [name: string, json: string][] };
  const count = (id: string): number => {
    const [, json = ''] = files.find(([name]) => name === `document counters ${id}`) ?? [];
    return (JSON.parse(json) as Counter).n;
  };
  return { left: count('left'), right: count('right') };
}
