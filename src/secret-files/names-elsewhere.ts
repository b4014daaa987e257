import { nameOf, placeOf, type SecretFile } from './format.ts';

/* Names of values as other programs write them: sops `["db"]["password"]`, yq and jq `.db.password`, `servers[0]`. */

/** Step in brackets, or a key after a dot. */
const STEP = /\[(?:"([^"]*)"|'([^']*)'|(\d+))\]|\.([^.[\]"'#\\]+)/y;

/** First key, before which no dot is needed. */
const FIRST = /[^.[\]"'#\\$][^.[\]"'#\\]*/y;

/** Form that can only be meant as a path, and not as a key. */
const ONLY_A_PATH = /^(?:\["|\['|\$?\.|\$\[)/;

/** Returns the keys of a name in a form of other programs; undefined for any other text. */
export function stepsElsewhere(typed: string): readonly string[] | undefined {
  const steps: string[] = [];
  FIRST.lastIndex = typed.startsWith('$.') || typed.startsWith('$[') ? 1 : 0;
  let at = FIRST.lastIndex;
  const first = FIRST.exec(typed)?.[0];
  if (first !== undefined) {
    steps.push(first);
    at = FIRST.lastIndex;
  }
  while (at < typed.length) {
    STEP.lastIndex = at;
    const found = STEP.exec(typed);
    if (found === null) return undefined;
    const [, ...keys] = found;
    steps.push(keys.find((key) => key !== undefined) ?? '');
    at = STEP.lastIndex;
  }
  return steps.length > 0 ? steps : undefined;
}

/**
 * Returns the name of a value, also for one that was typed as other programs write it. A name that the file has is
 * never taken for another.
 */
export function ownName(file: SecretFile, typed: string): string {
  if (placeOf(file, typed) !== undefined) return typed;
  const steps = stepsElsewhere(typed);
  if (steps === undefined) return typed;
  const name = nameOf(steps);
  return ONLY_A_PATH.test(typed) || placeOf(file, name) !== undefined ? name : typed;
}
