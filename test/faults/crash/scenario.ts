import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { type Expected, expectationsOf } from '../aftermath.ts';
import { usualWorld, type World } from '../layer/fixed-world.ts';
import { wrapFileSystem } from '../layer/functions.ts';
import { arm, disarm, install } from '../layer/layer.ts';
import { ailments, leftovers, pictureOf } from '../picture.ts';
import { type Answer, Sandbox } from '../sandbox.ts';
import { lookAt, storeOf, type Write } from '../writes.ts';
import { Disk, History } from './history.ts';
import { diskAfter, type PowerCut } from './power-cut.ts';
import { Recorder } from './recorder.ts';

/** A command is killed, or the power fails; what has not reached the disk is lost only then. */
export type Fault = { readonly killed: number } | PowerCut;

/** The command that finds what the first fault left, and is cut itself. */
export const followers = ['reads', 'changes one', 'changes several', 'again'] as const;
export type Follower = (typeof followers)[number];

/** What led to a state: enough to make it again. */
export interface Case {
  readonly write: string;
  readonly first?: { readonly fault: Fault; readonly follower: Follower } | undefined;
  readonly cut: PowerCut;
}

/** What was done to a disk, and what everybody may see of it after the power failed. */
export interface Scenario {
  readonly write: Write;
  readonly history: History;
  /** The steps before this one are those of a command that was killed. */
  readonly from: number;
  /** While the last command has not ended. */
  readonly meanwhile: readonly string[];
  /** Once it has ended well. */
  readonly finally: readonly string[];
  /** The last command is one that was told that it has changed something. */
  readonly changes: boolean;
  /** When nothing at all was done. */
  readonly before: string;
}

const SECOND_WORLD: World = { ...usualWorld, seed: 2_000_003 };

/** Runs a command, and adds what it does to the disk to a history. */
async function record(
  box: Sandbox,
  history: History,
  words: readonly string[],
  { input, world = usualWorld }: { readonly input?: string | undefined; readonly world?: World },
): Promise<Answer> {
  install(wrapFileSystem);
  arm({ root: box.root, watch: 'changes' }, new Recorder(box.root, history));
  try {
    return await box.run(words, { world, input });
  } finally {
    disarm();
  }
}

/** One command that nothing disturbs. Its record is the truth: played to the end, it makes the very disk that the command left. */
export async function undisturbed(
  write: Write,
  template: Sandbox,
): Promise<Scenario & { readonly expected: Expected }> {
  const expected = await expectationsOf(write, template);
  const box = template.copy();
  const history = new History(Disk.read(box.root));
  const { exitCode, stderr } = await record(box, history, write.words(box), write);
  assert.equal(exitCode, 0, stderr);
  assert.equal(
    history.live().print(),
    Disk.read(box.root).print(),
    `the record of "${write.name}" lacks something`,
  );
  box.remove();
  const { before, after } = expected;
  return {
    write,
    history,
    expected,
    from: 0,
    changes: true,
    before,
    meanwhile: [before, after],
    finally: [after],
  };
}

/** The command that comes after a first fault, recorded on what that has left. */
export async function followed(
  { write, history, expected: { before, after } }: Scenario & { readonly expected: Expected },
  fault: Fault,
  follower: Follower,
): Promise<Scenario> {
  const hasEnded = ('killed' in fault ? fault.killed : fault.at) === history.steps.length;
  const from = 'killed' in fault ? fault.killed : 0;
  const second = 'killed' in fault ? history.until(fault.killed) : new History(diskAfter(history, fault));
  const box = put(second.live());
  const seen = await seenIn(write, box);
  assert.ok(hasEnded ? seen === after : seen === before || seen === after, 'the first fault alone does harm');
  const { words, input, changes } = commandOf(follower, write, box, { isUndone: seen === before, seen });
  const { exitCode, stderr } = await record(box, second, words, { input, world: SECOND_WORLD });
  assert.equal(exitCode, 0, stderr);
  assert.equal(
    second.live().print(),
    Disk.read(box.root).print(),
    `the record of "${words.join(' ')}" lacks something`,
  );
  const end = await lookAt(write, box);
  box.remove();
  // What was not acknowledged may vanish again, as long as nothing was built on it.
  const start = hasEnded ? [after] : [before, seen];
  return {
    write,
    history: second,
    from,
    before,
    changes,
    meanwhile: [...start, end],
    finally: changes ? [end] : start,
  };
}

/** The command line of a follower. Where there is no store yet, it can only be made. */
function commandOf(
  follower: Follower,
  write: Write,
  box: Sandbox,
  { isUndone, seen }: { readonly isUndone: boolean; readonly seen: string },
): { readonly words: readonly string[]; readonly input?: string | undefined; readonly changes: boolean } {
  const store = storeOf(write, box);
  if (isUndone && (follower === 'again' || store !== box.store)) {
    return { words: write.words(box), input: write.input, changes: true };
  }
  const key = (isUndone ? undefined : write.key) ?? 'letters';
  const lines = {
    reads: ['orgs', 'list'],
    // A fresh store has no keys.
    'changes one': seen.includes(key)
      ? ['transit', 'keys', 'rotate', key]
      : ['transit', 'keys', 'create', key],
    'changes several': ['orgs', 'create', 'second'],
    again: ['orgs', 'create', 'second'],
  } satisfies Record<Follower, readonly string[]>;
  return { words: [...lines[follower], '--store', store], changes: follower !== 'reads' };
}

/** What anybody sees, without leaving a trace of having looked. */
async function seenIn(write: Write, box: Sandbox): Promise<string> {
  const copy = box.copy();
  try {
    return await lookAt(write, copy);
  } finally {
    copy.remove();
  }
}

function put(disk: Disk): Sandbox {
  const box = Sandbox.make();
  disk.write(box.root);
  return box;
}

/** The promises of the store when the power is back. */
export async function checkAfter(scenario: Scenario, cut: PowerCut): Promise<void> {
  const { write, history } = scenario;
  const box = put(diskAfter(history, cut));
  try {
    const store = storeOf(write, box);
    assert.deepEqual(await ailments(store), []);
    const found = await lookAt(write, box);
    const allowed = cut.at === history.steps.length ? scenario.finally : scenario.meanwhile;
    if (!allowed.includes(found)) assert.fail(differences(found, allowed.at(-1) ?? ''));
    if (scenario.changes && cut.at === history.steps.length) {
      const acknowledged = revisionOf(write, history.live());
      const revision = revisionOf(write, Disk.read(box.root));
      assert.ok(revision >= acknowledged, `revision ${revision} after ${acknowledged} was acknowledged`);
    }
    if (found === scenario.before) {
      const again = await box.run(write.words(box), write.input === undefined ? {} : { input: write.input });
      assert.equal(again.exitCode, 0, again.stderr);
    }
    await box.ok(['orgs', 'create', 'the-next', '--store', store]);
    assert.deepEqual(await ailments(store), []);
    assert.deepEqual(existsSync(store) ? leftovers(store) : 'no store', []);
    assert.match(await pictureOf(store), /the-next/);
  } finally {
    box.remove();
  }
}

/** The revision that the name in a store's directory `state` says; -1 where there is none. */
function revisionOf(write: Write, disk: Disk): number {
  const state = disk.find(join(storeOf(write, new Sandbox('/')), 'state'));
  const names = state === undefined ? [] : [...(disk.directories.get(state)?.keys() ?? [])];
  return Math.max(-1, ...names.map((name) => Number(/^log-\d+-(\d+)$/.exec(name)?.[1] ?? -1)));
}

const MOST_DIFFERENCES = 6;

/** The first lines that only one of two pictures has. */
function differences(found: string, expected: string): string {
  const [has, lacks] = [found, expected].map((text) => text.split('\n'));
  const only = (
    mine: readonly string[] = [],
    others: readonly string[] = [],
    word: string,
  ): readonly string[] =>
    mine.filter((each) => !others.includes(each)).map((each) => `${word} ${each.trim().slice(0, 200)}`);
  return [...only(has, lacks, 'has'), ...only(lacks, has, 'lacks')].slice(0, MOST_DIFFERENCES).join('\n');
}
