/** The order in which names must reach the disk before anything of a log may be deleted. */
import type { Entry, History } from './history.ts';
import { certain } from './power-cut.ts';

/** A change of names, told by paths. */
interface Named {
  readonly number: number;
  readonly puts: readonly string[];
  /** What is gone, and was not moved. */
  readonly deletes: readonly string[];
  /** The directory that it changes: its path, and its own number. */
  readonly into: string;
  readonly directory: number;
  /** What the state is called before it. */
  readonly state: string;
}

/**
 * Finds what was deleted of a log, or said to be needed no more, while what takes its place could still be lost. Some of
 * it would be found again by what else the log proves: this looks at the order alone.
 */
export function deletedTooEarly(history: History): readonly string[] {
  const all = namedIn(history);
  return all.flatMap((one, index) => {
    const needed = neededBefore(one, all.slice(0, index));
    if (needed.length === 0) return [];
    const sure = certain(history, one.number);
    return needed
      .filter(({ number }) => !sure.has(number))
      .map(({ puts, deletes }) => `${toText(one)} before it is certain: ${toText({ puts, deletes })}`);
  });
}

const toText = ({ puts, deletes }: Pick<Named, 'puts' | 'deletes'>): string =>
  [...puts.map((path) => `put ${path}`), ...deletes.map((path) => `delete ${path}`)].join(', ');

/** Returns the changes that must be on the disk before another one is made. */
function neededBefore({ puts, deletes, state }: Named, before: readonly Named[]): readonly Named[] {
  const present = generationIn(state);
  const last = (pattern: RegExp): readonly Named[] =>
    before.filter((each) => each.puts.some((path) => pattern.test(path))).slice(-1);
  // The state has got the generation that it has now.
  const begun = before.filter((each) => changesGeneration(each)).slice(-1);
  return [...puts, ...deletes].flatMap((path) => {
    const isPut = puts.includes(path);
    const number = /^store\/log\/(?:first-)?(\d+)$/.exec(path)?.[1];
    if (isPut) return number !== undefined && path.includes('first') ? last(nameOf(number)) : [];
    const generation = Number(/^store\/generation-(\d+)/.exec(path)?.[1] ?? present);
    if (generation < present) return begun;
    if (number === undefined || path.includes('first')) return [];
    if (!/log-/.test(state)) return last(/^store\/coffer\.json$/);
    return [
      ...last(nameOf(String(Number(number) + 1))),
      ...last(/^store\/log\/first-/),
      ...before.filter(
        ({ into, directory }) =>
          into.startsWith(`store/generation-${present}/`) &&
          // An attempt that failed may have left another one of the same name, which is gone.
          directory === before.findLast((each) => each.into === into)?.directory,
      ),
      // A file of the generation before.
      ...begun.filter((each) => !before.some((one) => one.number > each.number && one.puts.includes(path))),
    ];
  });
}

/** Whether the state gets another generation. */
const changesGeneration = ({ puts, into, state }: Named): boolean =>
  into === STATE && puts.some((put) => isState(put) && generationIn(put) !== generationIn(state));

const STATE = 'store/state';
const nameOf = (number: string): RegExp => new RegExp(`^store/log/${number}$`);
const isState = (path: string): boolean => path.startsWith(`${STATE}/`) && !path.endsWith('.new');
const generationIn = (state: string): number => Number(/\/(?:log|clean|dirty)-(\d+)-\d+$/.exec(state)?.[1]);

function namedIn({ base, steps }: History): readonly Named[] {
  const paths = base.paths();
  const found: Named[] = [];
  let state = [...paths.values()].find(isState) ?? '';
  for (const [number, step] of steps.entries()) {
    if (step.kind !== 'names') continue;
    const pathOf = ({ directory, name }: Entry): string => `${paths.get(directory)}/${name}`;
    const [puts, gone] = [true, false].map((isPut) =>
      step.entries.filter(({ inode }) => (inode !== undefined) === isPut),
    ) as [Entry[], Entry[]];
    found.push({
      number,
      puts: puts.map(pathOf),
      deletes: puts.length > 0 ? [] : gone.map(pathOf),
      into: paths.get(step.into) ?? '',
      directory: step.into,
      state,
    });
    for (const entry of puts) if (entry.inode !== undefined) paths.set(entry.inode, pathOf(entry));
    state = puts.map(pathOf).find(isState) ?? state;
  }
  return found;
}

/** After which steps of a history nobody can know yet whether a file of the log, or a generation, is there for certain. */
export const begunIn = (history: History): readonly number[] =>
  namedIn(history)
    .filter((named) => changesGeneration(named) || named.puts.some((path) => /^store\/log\/\d+$/.test(path)))
    .map(({ number }) => number + 1);
