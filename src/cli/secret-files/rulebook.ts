import { existsSync } from 'node:fs';
import { dirname, join, relative, resolve, sep } from 'node:path';
import { loadFormat, MAX_FILE_BYTES } from '../../secret-files/formats.ts';
import { RULES_NAME, type Rule, ruleFor, rulesIn } from '../../secret-files/rules.ts';
import { readInstructions } from '../repository/files-of-others.ts';
import type { Session } from '../session.ts';
import { textOf } from './secret-file.ts';

/** Parsed file of rules. */
interface RulesFile {
  readonly directory: string;
  readonly rules: readonly Rule[];
}

/** Finds the rules that apply to files, and reads each rules file once. */
export class Rulebook {
  readonly #session: Session;
  readonly #known = new Map<string, Promise<RulesFile | undefined>>();
  readonly #indexed: ReadonlyMap<string, Buffer>;

  /**
   * Creates a rulebook.
   * @param session session for warnings about rules that are ignored
   * @param indexed contents of rules files that are used instead of those on disk
   */
  constructor(session: Session, indexed: ReadonlyMap<string, Buffer> = new Map()) {
    this.#session = session;
    this.#indexed = indexed;
  }

  /**
   * Returns the rule for a file.
   * @throws `invalid` for invalid rules
   */
  async ruleFor(path: string): Promise<Rule | undefined> {
    const absolute = resolve(path);
    const found = await this.rulesOf(dirname(absolute));
    return found && ruleFor(found.rules, relative(found.directory, absolute).split(sep).join('/'));
  }

  /**
   * Returns the rules of a directory: its own, otherwise those of its parent; those of another repository do not apply.
   */
  rulesOf(directory: string): Promise<RulesFile | undefined> {
    const known = this.#known.get(directory) ?? this.#find(directory);
    this.#known.set(directory, known);
    return known;
  }

  async #find(directory: string): Promise<RulesFile | undefined> {
    const path = join(directory, RULES_NAME);
    const shown = relative('.', path);
    const bytes = this.#indexed.get(path) ?? this.#onDisk(path, shown);
    if (bytes !== undefined) {
      const document = (await loadFormat('yaml')).parse(textOf(shown, bytes), shown);
      return { directory, rules: rulesIn(document, shown) };
    }
    const above = dirname(directory);
    return above === directory || existsSync(join(directory, '.git')) ? undefined : this.rulesOf(above);
  }

  /**
   * Reads a rules file.
   * @returns undefined if it does not exist or is ignored, with a warning
   */
  #onDisk(path: string, shown: string): Buffer | undefined {
    const found = readInstructions(path, shown, MAX_FILE_BYTES);
    if (found.kind === 'foreign') this.#session.warn(found.why);
    return found.kind === 'read' ? found.bytes : undefined;
  }
}
