import { expect, it } from 'vitest';
import type { Chance } from '../../chance.ts';
import { isLong, isSlow, rounds } from '../../long.ts';
import { seeded } from '../../seeded.ts';
import type { Sandbox } from '../sandbox.ts';
import { Tally } from '../tally.ts';
import { usualTemplate } from '../template.ts';
import type { Write } from '../writes.ts';
import type { Step } from './history.ts';
import { dataLosses, diskAfter, lossesAt, type PowerCut } from './power-cut.ts';
import {
  type Case,
  checkAfter,
  type Fault,
  followed,
  followers,
  type Scenario,
  undisturbed,
} from './scenario.ts';

/** How many states of each command are tried, of those after one fault and of those after two. */
const STATES = isSlow
  ? { once: 120, firsts: 40, each: 8 }
  : { once: rounds(50), firsts: rounds(12), each: rounds(5) };
/** Where more sets of changes may be lost, so many of them are taken by chance. */
const MOST_LOSSES = isSlow ? 200 : 24;

/** Where the last change says only that all is done, or what this machine has seen: without it the next command looks again. */
const MAY_BE_LATE = /^(?:store|\/other)\/state$|^\.local\/state\/coffer\/seen/;

/** The only case to try, as a failure has printed it. */
const only = JSON.parse(process.env['CRASH'] ?? 'null') as Case | null;

/** Tests that cut the power at each step of each command, in each order in which a disk may have done what it was asked to. */
export function crashEverywhere(writes: readonly Write[]): void {
  const template = usualTemplate();
  const scenarioOf = isLong ? undisturbed : remembered(undisturbed);
  if (only !== null) {
    repeat(only, writes, template);
    return;
  }
  it.each(writes)(
    'without power at any moment, "$name" leaves all as before or as after, in whatever order the disk wrote',
    async (write) => {
      const chance = seeded();
      const tally = new Tally('crash states');
      const scenario = await scenarioOf(write, template());
      for (const cut of cutsOf(scenario, STATES.once, chance)) {
        await checkOnce(tally, scenario, cut);
      }
      tally.settle();
    },
  );

  // The states above take a move for one step, as journaling file systems do: the other directory's sync would do for them.
  it.each(writes)('"$name" syncs every directory that it has put a file into', async (write) => {
    const { base, steps } = (await scenarioOf(write, template())).history;
    const names = base.paths();
    const unsynced = steps.flatMap((step, number) => {
      if (step.kind !== 'names') return [];
      for (const { directory, name, inode } of step.entries)
        if (inode !== undefined) names.set(inode, `${names.get(directory)}/${name}`);
      const puts = step.entries.some(
        ({ directory, inode }) => directory === step.into && inode !== undefined,
      );
      const isSynced = steps.some(
        (later) => later.kind === 'sync' && later.inode === step.into && later.begun > number,
      );
      const directory = names.get(step.into) ?? '';
      return puts && !isSynced && !MAY_BE_LATE.test(directory) ? [directory] : [];
    });
    expect(unsynced).toEqual([]);
  });

  it.each(writes.filter(({ leavesStore }) => leavesStore !== true))(
    'cut short twice, "$name" and then whoever comes next, all is as before or as after, in whatever order the disk wrote',
    async (write) => {
      const chance = seeded();
      const tally = new Tally('crash states');
      const scenario = await scenarioOf(write, template());
      for (let i = 0; i < STATES.firsts; i++) {
        const fault = firstFault(scenario, chance);
        const follower = chance.pick(followers);
        const second = await followed(scenario, fault, follower);
        for (const cut of cutsOf(second, STATES.each, chance)) {
          await checkOnce(tally, second, cut, { fault, follower });
        }
      }
      tally.settle();
    },
  );
}

/** One recording of each command for all tests of a file; in the long proof, with longer commands, it would take much memory. */
function remembered(make: typeof undisturbed): typeof undisturbed {
  const made = new Map<string, ReturnType<typeof undisturbed>>();
  return (write, template) => {
    const scenario = made.get(write.name) ?? make(write, template);
    made.set(write.name, scenario);
    return scenario;
  };
}

/** Looks at what one power cut leaves. */
export function checkOnce(
  tally: Tally,
  scenario: Scenario,
  cut: PowerCut,
  first?: Case['first'],
): Promise<void> {
  const one: Case = { write: scenario.write.name, first, cut };
  return tally.after(`CRASH='${JSON.stringify(one)}'`, () => checkAfter(scenario, cut));
}

function repeat({ write: name, first, cut }: Case, writes: readonly Write[], template: () => Sandbox): void {
  it.each(writes.filter((write) => write.name === name))(
    'without power at the one moment that was asked for, "$name" leaves all as before or as after',
    async (write) => {
      const scenario = await undisturbed(write, template());
      const last = first === undefined ? scenario : await followed(scenario, first.fault, first.follower);
      const { steps, base } = last.history;
      const names = base.paths();
      for (const [number, step] of steps.slice(0, cut.at).entries()) {
        const what = `${cut.lost.includes(number) ? 'LOST ' : ''}${describe(step, names)}`;
        process.stdout.write(`${number} ${what}\n`);
        if (step.kind !== 'names') continue;
        for (const { directory, name, inode } of step.entries) {
          if (inode !== undefined) names.set(inode, `${names.get(directory)}/${name}`);
        }
      }
      await checkAfter(last, cut);
    },
  );
}

function describe(step: Step, names: ReadonlyMap<number, string>): string {
  if (step.kind === 'data') return `write ${names.get(step.inode)}`;
  if (step.kind === 'failed sync') return `failed sync of ${names.get(step.inode)}`;
  if (step.kind === 'sync') return `sync ${names.get(step.inode)}, as it was after step ${step.begun - 1}`;
  const entries = step.entries.map(({ directory, name, inode }) => {
    const path = `${names.get(directory)}/${name}`;
    return inode === undefined ? `no ${path}` : `${path} is what was ${names.get(inode) ?? 'not there'}`;
  });
  return entries.join(', ');
}

function firstFault(scenario: Scenario, chance: Chance): Fault {
  const { history } = scenario;
  if (!chance.oneIn(3)) return { killed: chance.pick(chance.pick(killsOf(scenario)).after) };
  const at = chance.below(history.steps.length + 1);
  return { at, lost: chance.pick(lossesAt(history, at, MOST_LOSSES, chance)), data: chance.pick(dataLosses) };
}

interface Kills {
  /** Its path when all was done, or empty when it is gone then. */
  readonly directory: string;
  /** Numbers of steps. */
  readonly after: readonly number[];
}

/**
 * After which steps a kill differs from others, for each directory. Whoever comes next sees the same until another name changes; and
 * the sooner the kill, the less is on the disk for certain.
 */
export function killsOf({ history }: Scenario): readonly Kills[] {
  const paths = history.live().paths();
  const kills = new Map<number, number[]>();
  for (const [number, step] of history.steps.entries()) {
    if (step.kind === 'names') kills.set(step.into, [...(kills.get(step.into) ?? []), number + 1]);
  }
  return [...kills].map(([inode, after]) => ({ directory: paths.get(inode) ?? '', after }));
}

/** The ways in which the power may fail that leave different disks, or `most` of them by chance where there are more. */
export function cutsOf(
  { history, from }: Pick<Scenario, 'history' | 'from'>,
  most: number,
  chance: Chance,
): readonly PowerCut[] {
  const end = history.steps.length;
  const moments = shuffled([...history.steps.keys()].slice(from), chance).slice(0, most);
  const all = [end, ...moments].flatMap((at) =>
    lossesAt(history, at, MOST_LOSSES, chance).flatMap((lost) =>
      dataLosses.map((data) => ({ at, lost, data })),
    ),
  );
  const found = new Map<string, PowerCut>();
  for (const cut of shuffled(all, chance)) {
    if (found.size === most) break;
    const print = `${cut.at === end} ${diskAfter(history, cut).print()}`;
    if (!found.has(print)) found.set(print, cut);
  }
  return [...found.values()];
}

function shuffled<T>(list: readonly T[], chance: Chance): readonly T[] {
  const mixed = [...list];
  for (let i = mixed.length - 1; i > 0; i--) {
    const j = chance.below(i + 1);
    [mixed[i], mixed[j]] = [mixed[j] as T, mixed[i] as T];
  }
  return mixed;
}
