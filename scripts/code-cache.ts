/**
 * Runs frequent commands once, in this process, and writes down what V8 compiled for them, so that the single executable
 * need not parse and compile it at every start. A cache made before anything ran would hold none of the functions.
 *
 * Usage: node scripts/code-cache.ts WRAPPED-SOURCE CACHE-FILE COMMANDS, the last a JSON array of argument lists.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { Script } from 'node:vm';

type Main = (argv: readonly string[]) => Promise<number>;
type Wrapped = (require: NodeJS.Require, module: { exports: { main?: Main } }) => void;

const [wrapped = '', cacheFile = '', commands = '[]'] = process.argv.slice(2);
const script = new Script(readFileSync(wrapped, 'latin1'), { filename: 'coffer.cjs' });

const module: { exports: { main?: Main } } = { exports: {} };
process.argv.splice(2, Number.POSITIVE_INFINITY, '--version');
const exited = new Promise<void>((resolve) => {
  // The program ends the process when its first command is done; here it goes on.
  process.exit = ((): void => resolve()) as typeof process.exit;
});
script.runInThisContext()(createRequire(wrapped), module) satisfies ReturnType<Wrapped>;
await exited;
const { main } = module.exports;
if (main === undefined) throw new Error(`${wrapped} exports no main`);

for (const argv of JSON.parse(commands) as string[][]) {
  const exitCode = await main(argv);
  if (exitCode !== 0) throw new Error(`coffer ${argv.join(' ')}: exit code ${exitCode}`);
}
writeFileSync(cacheFile, script.createCachedData());
