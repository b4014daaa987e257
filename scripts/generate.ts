/**
 * Writes what is generated and committed: the completion scripts. With `--check` it writes nothing, and fails when a file
 * is not what would be written.
 */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { completionScript, shells } from '../src/cli/completions/scripts.ts';

const directory = fileURLToPath(new URL('../completions/', import.meta.url));
const check = process.argv.includes('--check');
mkdirSync(directory, { recursive: true });
for (const shell of shells) {
  const file = `${directory}coffer.${shell}`;
  const script = (await completionScript(shell)) ?? '';
  if (!check) {
    writeFileSync(file, script);
  } else if (!existsSync(file) || readFileSync(file, 'utf8') !== script) {
    process.stderr.write(`completions/coffer.${shell} is out of date: run "npm run generate"\n`);
    process.exitCode = 1;
  }
}
