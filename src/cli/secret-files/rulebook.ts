import { existsSync } from 'node:fs';
import { dirname, join, relative, resolve, sep } from 'node:path';
import { madeOnce } from '../../ground/objects.ts';
import { loadFormat, MAX_FILE_BYTES } from '../../secret-files/formats.ts';
import { RULES_NAME, type Rule, ruleFor, rulesIn } from '../../secret-files/rules.ts';
import { git, readInstructions } from '../repository/git.ts';
import type { Session } from '../session.ts';
import { textOf } from './secret-file.ts';

/** Parsed file of rules. */
type RulesFile = { readonly directory: string; readonly rules: readonly Rule[] };

/** Bytes of a rules file, and its directory. */
export type RulesSource = { readonly directory: string; readonly bytes: Buffer };

/** Finds the rules that apply to files, and reads each rules file once. */
export class Rulebook {
  readonly #session: Session;
  readonly #known = new Map<string, Promise<RulesFile | undefined>>();
  readonly #sources = new Map<string, RulesSource | undefined>();
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
   * Returns the rules file that applies to a directory, without parsing it: loading the YAML parser takes longer than
   * many a command.
   */
  sourceOf(directory: string): RulesSource | undefined {
    if (this.#sources.has(directory)) return this.#sources.get(directory);
    const path = join(directory, RULES_NAME);
    const bytes = this.#indexed.get(path) ?? this.#onDisk(path, relative('.', path));
    const above = dirname(directory);
    const isTop = above === directory || existsSync(join(directory, '.git'));
    const found = bytes === undefined ? (isTop ? undefined : this.sourceOf(above)) : { directory, bytes };
    this.#sources.set(directory, found);
    return found;
  }

  /**
   * Returns the rules of a directory: its own, otherwise those of its parent; those of another repository do not apply.
   */
  rulesOf(directory: string): Promise<RulesFile | undefined> {
    return madeOnce(this.#known, directory, () => this.#find(directory));
  }

  async #find(directory: string): Promise<RulesFile | undefined> {
    const source = this.sourceOf(directory);
    if (source === undefined) return undefined;
    if (source.directory !== directory) return this.rulesOf(source.directory);
    return { directory, rules: await parsedRules(source.bytes, relative('.', join(directory, RULES_NAME))) };
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

/**
 * Parses a rules file.
 * @param shown path in errors
 * @throws `invalid` for invalid rules
 */
export async function parsedRules(bytes: Buffer, shown: string): Promise<readonly Rule[]> {
  const document = (await loadFormat('yaml')).parse(textOf(shown, bytes), shown);
  return rulesIn(document, shown);
}

/**
 * Describes the last change of a directory's rules: by the commit and author, unless it is not committed.
 * @returns empty without git
 */
export function lastChangeIn(directory: string | undefined): string {
  if (directory === undefined) return '';
  const status = git(directory, ['--no-optional-locks', 'status', '--porcelain', '--', RULES_NAME]);
  if (status?.length) return ` (${RULES_NAME} has uncommitted changes)`;
  const told = git(directory, ['log', '-1', '--format=%h by %an', '--', RULES_NAME])?.toString().trim();
  return told ? ` (${RULES_NAME} was last changed in commit ${told})` : '';
}

/** Maximum number of names in a question or an error. */
const MOST_NAMES = 10;

/** Lists what a change of the rules affects: of many, the first ones and their number. */
export const few = (all: readonly string[]): string =>
  `${all.slice(0, MOST_NAMES).join('; ')}${all.length > MOST_NAMES ? `; and ${all.length - MOST_NAMES} more` : ''}`;
