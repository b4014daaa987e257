import { beforeAll } from 'vitest';
import { weaknessOf } from './titles.ts';

interface Task {
  readonly name: string;
  readonly type: string;
  readonly tasks?: readonly Task[];
}

/** The tests of a file, each behind the groups that it is in. */
function* testsOf(task: Task, groups: readonly string[] = []): Generator<readonly string[]> {
  for (const each of task.tasks ?? []) {
    const names = [...groups, each.name];
    if (each.type === 'test') yield names;
    else yield* testsOf(each, names);
  }
}

/** Every file under test has titles that say what is true, and no two that are the same: a template names the case. */
// biome-ignore lint/correctness/noEmptyPattern: the first argument is for fixtures, and read as a text
beforeAll(({}, file) => {
  const seen = new Set<string>();
  for (const names of testsOf(file as Task)) {
    const whole = names.join(' > ');
    const weakness = seen.has(whole)
      ? 'is that of another test'
      : weaknessOf(names.at(-1) ?? '', names.slice(0, -1));
    if (weakness !== undefined) throw new Error(`the title of a test ${weakness}: ${whole}`);
    seen.add(whole);
  }
});
