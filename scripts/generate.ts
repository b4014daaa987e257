/**
 * Writes the generated files that are committed: the completion scripts, the import rules of the linter, the index of
 * decisions, the names of key types as a type, the page with the rows of the specifications, that of the environment variables, and the picture of a
 * terminal. With `--check` it writes nothing, and fails if a file is out of date.
 */
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import { completionScript, shells } from '../src/cli/commands/completion.ts';
import { commandTree } from '../src/cli/tree.ts';
import { printPage } from '../test/specification/chapters.ts';
import { DECISION_INDEX, withDecisionIndex } from './decision-index.ts';
import { ENVIRONMENT_PAGE, environmentPage } from './environment-page.ts';
import { withImportRules } from './import-rules.ts';
import { KEY_TYPE_NAMES, keyTypeNamesSource } from './key-type-names.ts';
import { TERMINAL_PICTURE, terminalPicture } from './terminal-picture.ts';

const root = fileURLToPath(new URL('../', import.meta.url));
const linter = createRequire(import.meta.url).resolve('@biomejs/biome/bin/biome');
const check = process.argv.includes('--check');

for (const shell of shells)
  write(`completions/coffer.${shell}`, (await completionScript(shell, commandTree)) ?? '');
write('biome.json', formatted(withImportRules(readFileSync(`${root}biome.json`, 'utf8'))));
write('docs/specification.md', printPage());
write(KEY_TYPE_NAMES, keyTypeNamesSource());
write(ENVIRONMENT_PAGE, environmentPage());
write(TERMINAL_PICTURE, await terminalPicture());
write(DECISION_INDEX, withDecisionIndex(readFileSync(root + DECISION_INDEX, 'utf8')));

function write(name: string, text: string): void {
  const file = root + name;
  if (!check) {
    writeFileSync(file, text);
  } else if (!existsSync(file) || readFileSync(file, 'utf8') !== text) {
    process.stderr.write(`${name} is out of date: run "npm run generate"\n`);
    process.exitCode = 1;
  }
}

function formatted(json: string): string {
  return execFileSync(process.execPath, [linter, 'format', '--stdin-file-path=biome.json'], {
    cwd: root,
    input: json,
    encoding: 'utf8',
  });
}
