import { globSync, readFileSync } from 'node:fs';
import { join, normalize } from 'node:path';
import { fileURLToPath } from 'node:url';
import { isLong } from './long.ts';

/** What is known of the test files before they run, from what they and the modules of the tests that they import say. */

const root = fileURLToPath(new URL('..', import.meta.url));

/** What only the long proof runs, and what it does in a longer way elsewhere. */
const NOT_IN_THIS = isLong ? '.short.test.ts' : '.long.test.ts';

/** The test files of this run, by their paths from the root. */
export const testFiles: readonly string[] = globSync('test/**/*.test.ts', { cwd: root })
  .filter((path) => !path.endsWith(NOT_IN_THIS))
  .sort();

/**
 * What belongs to a whole process, and is not given back when a test ends: files that touch it get one each. Spies, fake timers and variables of
 * `vi` are not among it: `test/restored.setup.ts` gives them back.
 */
const OF_THE_PROCESS = new RegExp(
  [
    /\bprocess\.(?:env\[[^\]]+\] \??\??=[^=]|chdir|umask\([^)]|on\b|once|emit|exitCode|title|stdin|send\b)/,
    /\bprocess\.(?:cpuUsage|threadCpuUsage|memoryUsage|resourceUsage)\b/,
    /\bdelete process\.env|Object\.assign\(process/,
    /\bvi\.(?:mock|doMock|hoisted|resetModules)\b/,
    /\bglobalThis\b|\bglobal\.|\bprototype\.\w+ =/,
    /\bfrom 'node:(?:cluster|vm|perf_hooks|inspector)'|\b(?:registerHooks|syncBuiltinESMExports|setFlagsFromString)\(/,
    /\bimport\(`/,
  ]
    .map(({ source }) => source)
    .join('|'),
);
/** Modules that put back what they take of the process, before another test begins. */
const GIVE_BACK = new Set([
  'test/cli/directory-here.ts',
  'test/clients/commands.ts',
  'test/e2e/run-here.ts',
  'test/light-work.ts',
  'test/servers/server-process.ts',
]);
/** Stays before the file system of its process: only tests of faults expect that of the ones before them. */
const FAULT_LAYER = new Set(['test/faults/layer/fixed-world.ts', 'test/faults/layer/layer.ts']);
/** What makes another choice, or more of them, in the long proof. */
const OF_THE_LONG_PROOF = new Set(['test/long.ts', 'test/seed.ts']);
/** Modules that ask how long the proof is only to prepare the same in more work: RSA keys, teams of people, directories, keys from passphrases. */
const SAME_IN_MORE_WORK = new Set([
  'test/e2e/kept-directory.ts',
  'test/e2e/ssh-keys.ts',
  'test/e2e/team-people.ts',
  'test/light-argon2.ts',
  'test/light-work.ts',
  'test/rsa-keys.ts',
]);

/** Whether a file leaves nothing in its process that others of its project do not expect, so that they may follow in the same one. */
export const sharesProcess = (file: string): boolean => {
  const isFault = file.startsWith('test/faults/');
  return all(
    file,
    (path, { text }) =>
      GIVE_BACK.has(path) || (isFault && FAULT_LAYER.has(path)) || !OF_THE_PROCESS.test(text),
  );
};

/** Whether a file does something else in the long proof than in `npm test`. */
export const growsLong = (file: string): boolean =>
  file.endsWith('.long.test.ts') || !all(file, (path, module) => !asksForTheProof(path, module));

const asksForTheProof = (path: string, { text, imports }: Module): boolean =>
  text.includes("'fast-check'") ||
  (!SAME_IN_MORE_WORK.has(path) && imports.some((imported) => OF_THE_LONG_PROOF.has(imported)));

/** Whether something is true of a test file and each module of the tests that it imports. */
function all(file: string, isTrue: (path: string, module: Module) => boolean): boolean {
  const seen = new Set<string>();
  const follow = (path: string): boolean => {
    if (seen.has(path)) return true;
    seen.add(path);
    const module = moduleAt(path);
    return isTrue(path, module) && module.imports.every(follow);
  };
  return follow(file);
}

interface Module {
  readonly text: string;
  readonly imports: readonly string[];
}

const modules = new Map<string, Module>();

function moduleAt(path: string): Module {
  const known = modules.get(path);
  if (known !== undefined) return known;
  const text = readFileSync(join(root, path), 'utf8');
  const imports = [...text.matchAll(/(?:\bfrom|^import|\bimport\() ?'(\.[^']+)'/gm)]
    .map(([, relative = '']) => normalize(join(path, '..', relative)))
    .filter((found) => found.startsWith('test/') && found.endsWith('.ts'));
  modules.set(path, { text, imports });
  return { text, imports };
}
