import { existsSync } from 'node:fs';
import { dirname, join, relative, resolve, sep } from 'node:path';
import { invalid } from '../../ground/errors.ts';
import { loadFormat, MAX_FILE_BYTES } from '../../secret-files/formats.ts';
import { RULES_NAME, type Rule, ruleFor, rulesIn } from '../../secret-files/rules.ts';
import { readFileWhole } from '../files/in-file.ts';
import { liesBelow } from './git.ts';
import { textOf } from './secret-file.ts';

/** A file with rules. */
interface Rules {
  readonly directory: string;
  readonly rules: readonly Rule[];
}

/** Finds the rules that hold for files, and reads each file with rules once. */
export class Rulebook {
  readonly #read: (path: string) => Buffer | undefined;
  readonly #known = new Map<string, Promise<Rules | undefined>>();

  /** @param read the content of a file with rules, or undefined where there is none. */
  constructor(read: (path: string) => Buffer | undefined = readIfThere) {
    this.#read = read;
  }

  /** @throws `invalid` for rules with a mistake. */
  async ruleFor(path: string): Promise<Rule | undefined> {
    const absolute = resolve(path);
    const found = await this.rulesOf(dirname(absolute));
    return found && ruleFor(found.rules, relative(found.directory, absolute).split(sep).join('/'));
  }

  /** The rules of a directory: its own, else those of the one above it; those of another repository don't count. */
  rulesOf(directory: string): Promise<Rules | undefined> {
    const known = this.#known.get(directory) ?? this.#find(directory);
    this.#known.set(directory, known);
    return known;
  }

  async #find(directory: string): Promise<Rules | undefined> {
    const path = join(directory, RULES_NAME);
    const bytes = this.#read(path);
    if (bytes !== undefined) {
      const shown = relative('.', path);
      const document = (await loadFormat('yaml')).parse(textOf(shown, bytes), shown);
      return { directory, rules: rulesIn(document, shown) };
    }
    const above = dirname(directory);
    return above === directory || existsSync(join(directory, '.git')) ? undefined : this.rulesOf(above);
  }
}

/** @throws `invalid` for a link out of the repository: it would have anything that its reader may read shown in the errors of a pipeline. */
export function readIfThere(path: string): Buffer | undefined {
  if (!existsSync(path)) return undefined;
  const directory = dirname(path);
  if (!liesBelow(topOf(directory) ?? directory, path)) {
    throw invalid(`${relative('.', path)} leads out of the repository`, {
      hint: 'copy what it leads to',
    });
  }
  return readFileWhole(path, RULES_NAME, MAX_FILE_BYTES);
}

/** The top of the working tree that a directory lies in, without asking git. */
function topOf(directory: string): string | undefined {
  if (existsSync(join(directory, '.git'))) return directory;
  const above = dirname(directory);
  return above === directory ? undefined : topOf(above);
}
