import { existsSync } from 'node:fs';
import { dirname, join, relative, resolve, sep } from 'node:path';
import { loadFormat, MAX_FILE_BYTES } from '../../secret-files/formats.ts';
import { RULES_NAME, type Rule, ruleFor, rulesIn } from '../../secret-files/rules.ts';
import type { Session } from '../session.ts';
import { readInstructions } from './files-of-others.ts';
import { textOf } from './secret-file.ts';

/** A file with rules. */
interface Rules {
  readonly directory: string;
  readonly rules: readonly Rule[];
}

/** Finds the rules that hold for files, and reads each file with rules once. */
export class Rulebook {
  readonly #session: Session;
  readonly #known = new Map<string, Promise<Rules | undefined>>();
  readonly #indexed: ReadonlyMap<string, Buffer>;

  /**
   * @param session which is told of rules that are not followed.
   * @param indexed contents of files with rules that hold in place of those on the disk.
   */
  constructor(session: Session, indexed: ReadonlyMap<string, Buffer> = new Map()) {
    this.#session = session;
    this.#indexed = indexed;
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
    const shown = relative('.', path);
    const bytes = this.#indexed.get(path) ?? this.#onDisk(path, shown);
    if (bytes !== undefined) {
      const document = (await loadFormat('yaml')).parse(textOf(shown, bytes), shown);
      return { directory, rules: rulesIn(document, shown) };
    }
    const above = dirname(directory);
    return above === directory || existsSync(join(directory, '.git')) ? undefined : this.rulesOf(above);
  }

  /** Undefined for rules that are not there or not followed, which is said. */
  #onDisk(path: string, shown: string): Buffer | undefined {
    const found = readInstructions(path, shown, MAX_FILE_BYTES);
    if (found.kind === 'foreign') this.#session.warn(found.why);
    return found.kind === 'read' ? found.bytes : undefined;
  }
}
