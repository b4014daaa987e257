/**
 * Runs commands in this process and stores the code that V8 compiled for them, so that the single executable need not
 * parse and compile it at every start. A cache created before anything ran would contain none of the functions.
 *
 * Usage: node scripts/code-cache.ts DIRECTORY PART CACHE COMMANDS. DIRECTORY contains the parts of the bundle, wrapped
 * for `Script`; PART is the part whose cache is written next to it, as CACHE; COMMANDS is a JSON array of argument
 * lists, each of which may begin with variables, as NAME=VALUE.
 * @see docs/decisions/0070
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { setFlagsFromString } from 'node:v8';
import { Script } from 'node:vm';

type Main = (argv: readonly string[]) => Promise<number>;
interface Exports {
  readonly main?: Main;
}
type Wrapped = (require: (name: string) => unknown, module: { exports: Exports }) => void;

/** Variable before a command. */
const VARIABLE = /^([A-Z][A-Z_]*)=(.*)$/s;

// The code discarded by garbage collections, and the progress of the compiler threads, differ in each run.
const flags = ['flush-bytecode', 'sparkplug', 'profile-guided-optimization'];
for (const flag of flags) setFlagsFromString(`--no-${flag}`);
// Without this, long work would pause on a slow machine, but not on a fast one.
process.uptime = (): number => 0;

const [directory = '', part = '', cache = '', commands = '[]'] = process.argv.slice(2);
const nodeRequire = createRequire(import.meta.url);
const scripts = new Map<string, Script>();

/** Loads a part as the single executable does: under the same name, with the same text. */
function load(file: string): Exports {
  const script = new Script(readFileSync(join(directory, file), 'latin1'), { filename: file });
  scripts.set(file, script);
  const module: { exports: Exports } = { exports: {} };
  const wrapped = script.runInThisContext() as Wrapped;
  wrapped((name) => (name.startsWith('./') ? load(name.slice(2)) : nodeRequire(name)), module);
  return module.exports;
}

process.argv.splice(2, Number.POSITIVE_INFINITY, '--version');
const exited = new Promise<void>((resolve) => {
  // The program ends the process after its first command; here it must continue.
  process.exit = ((): void => resolve()) as typeof process.exit;
});
// Without it, a child process is started instead of replacing this process.
delete process.execve;
const { main } = load('coffer.cjs');
await exited;
// The command sets a failure code until it ends the process itself, which was prevented.
process.exitCode = 0;
if (main === undefined) throw new Error('the bundle exports no main');

for (const words of JSON.parse(commands) as string[][]) {
  const argv = words.filter((word) => !VARIABLE.test(word));
  const variables = words.flatMap((word) => {
    const [, name, value] = VARIABLE.exec(word) ?? [];
    return name === undefined ? [] : [[name, value] as const];
  });
  Object.assign(process.env, Object.fromEntries(variables));
  const exitCode = await main(argv);
  for (const [name] of variables) delete process.env[name];
  if (exitCode !== 0) throw new Error(`coffer ${argv.join(' ')}: exit code ${exitCode}`);
}
const script = scripts.get(part);
if (script === undefined) throw new Error(`none of the commands used ${part}`);
// V8 rejects a cache created with other flags.
for (const flag of flags) setFlagsFromString(`--${flag}`);
writeFileSync(join(directory, cache), script.createCachedData());
