import assert from 'node:assert/strict';
import { chmodSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { checkRefusal, checkStoreAfter, expectationsOf, run } from '../aftermath.ts';
import { questionsOf } from '../questions.ts';
import type { Sandbox } from '../sandbox.ts';
import { keyWrites, peopleWrites, storeWrites } from '../writes.ts';
import { observe, sampledFor } from './report.ts';

const NONE = 0;
const READ_ONLY = 0o400;
const LIST_ONLY = 0o500;

const THOSE_WHO_WRITE = [
  keyWrites[0],
  keyWrites[4],
  peopleWrites[0],
  peopleWrites[5],
  storeWrites[2],
  storeWrites[3],
].filter((write) => write !== undefined);

/** Takes away permissions from one file or directory at a time; run as a user who needs them. */
export async function permissions(template: Sandbox): Promise<void> {
  assert.notEqual(process.geteuid?.(), 0, 'the superuser needs no permissions');
  const truths = await answersIn(template);
  const losses = pathsOf(template).flatMap((path) => {
    const isDirectory = statSync(join(template.store, path)).isDirectory();
    return [NONE, isDirectory ? LIST_ONLY : READ_ONLY].map((mode) => [path, mode] as const);
  });
  for (const [path, mode] of sampledFor('permissions', losses)) await without(template, path, mode, truths);
}

const pathsOf = ({ store }: Sandbox): readonly string[] => [
  '.',
  ...['coffer.json', 'lock', 'state', `state/${readdirSync(join(store, 'state'))[0]}`],
  'log',
  ...readdirSync(join(store, 'log')).map((name) => `log/${name}`),
  ...['generation-1', 'generation-1/slots', 'generation-1/documents'],
  ...readdirSync(join(store, 'generation-1', 'slots')).map((name) => `generation-1/slots/${name}`),
  ...readdirSync(join(store, 'generation-1', 'documents')).map((name) => `generation-1/documents/${name}`),
];

async function without(
  template: Sandbox,
  path: string,
  mode: number,
  truths: readonly Said[],
): Promise<void> {
  const what = `${path} with mode ${mode.toString(8)}`;
  const box = template.copy();
  const full = join(box.store, path);
  const usual = statSync(full).mode;
  chmodSync(full, mode);
  const answers = await answersIn(box);
  chmodSync(full, usual);
  await observe(`questions: ${what}`, () => {
    for (const [index, answer] of answers.entries()) {
      const { exitCode, stdout, stderr } = answer;
      // Where it is known which file it is, the answer may go on without it, and say so.
      if (exitCode === 0 && stdout === truths[index]?.stdout) continue;
      // The command that looks at modes says what is wrong with this one.
      assert.match(stdout + stderr, /permission denied|has mode 0\d{3}, expected/);
      assert.doesNotMatch(stderr, /unexpected/);
    }
  });
  box.remove();
  for (const write of sampledFor(what, THOSE_WHO_WRITE, 3)) {
    const expected = await expectationsOf(write, template);
    const copy = template.copy();
    const target = join(copy.store, path);
    chmodSync(target, mode);
    const answer = await run(write, copy);
    giveBack(target, usual);
    await observe(`${write.name}: ${what}`, async () => {
      if (answer.exitCode !== 0) checkRefusal(answer, 'EACCES');
      await checkStoreAfter(write, copy, expected, { acknowledged: answer.exitCode === 0 });
    });
    copy.remove();
  }
}

interface Said {
  readonly exitCode: number;
  readonly stdout: string;
  readonly stderr: string;
}

async function answersIn(box: Sandbox): Promise<readonly Said[]> {
  const answers: Said[] = [];
  for (const words of questionsOf(box, readFileSync(box.at('ciphertext'), 'utf8'))) {
    const answer = await box.run(words);
    answers.push({ ...answer, stdout: answer.stdout.replaceAll(box.root, '') });
  }
  return answers;
}

/** A write that succeeded may have replaced the file; the one that names the state, which nobody opens, it has renamed. */
function giveBack(path: string, mode: number): void {
  const isState = /^log-\d/.test(basename(path));
  const now = isState ? readdirSync(dirname(path)).find((name) => name.startsWith('log-')) : undefined;
  const given = now === undefined ? path : join(dirname(path), now);
  if (statSync(given, { throwIfNoEntry: false }) !== undefined) chmodSync(given, mode);
}
