import { shellGlob } from '../ground/glob.ts';
import { isMountPath } from '../mounts/paths.ts';
import {
  type FileFormatName,
  FORMAT_NAMES,
  pathOf,
  refusedAt,
  type ScalarPlace,
  type SecretFile,
} from './format.ts';

/** Name of the rules file. It is searched for in the directory of a file and its parents. */
export const RULES_NAME = '.coffer.yaml';

/**
 * Rule: which values of some files are encrypted, and with which key.
 * @see docs/decisions/0148
 */
export interface Rule {
  /** Patterns of paths, relative to the directory of the rules. */
  readonly files: readonly string[];
  readonly key: string;
  readonly mount: string | undefined;
  /** Format of files whose names do not tell it. */
  readonly format: FileFormatName | undefined;
  /** Patterns of names to encrypt; empty for every value. */
  readonly only: readonly string[];
  /** Patterns of names that stay readable, overriding `only`. */
  readonly except: readonly string[];
}

const TEXTS = new Set(['key', 'mount', 'format']);
const LISTS = new Set(['files', 'only', 'except']);

const RULES_FORM = '"rules" must be a list of rules, each with "files" and "key"';

/**
 * Reads the rules from the list `rules:`. The first rule that matches a file applies.
 * @param document rules file, parsed as YAML
 * @param file name for errors
 * @throws `invalid` naming line and member
 */
export function rulesIn(document: SecretFile, file: string): readonly Rule[] {
  const refused = (place: { readonly start: number } | undefined, message: string, hint?: string) =>
    refusedAt(file, { text: document.text, offset: place?.start ?? 0, message, hint });
  const [alias] = document.aliases ?? [];
  // Left out, a pattern would leave its files or values unencrypted.
  if (alias !== undefined)
    throw refused(
      alias,
      `${alias.name} is a YAML alias, which is not followed`,
      'write the text in its place',
    );
  for (const place of document.places) {
    const [top] = place.path;
    if (top !== 'rules') throw refused(place, `unknown setting ${place.name}`, RULES_FORM);
    if (place.path.length < 3) throw refused(place, RULES_FORM);
  }
  const byRule = Map.groupBy(document.places, ({ path }) => path[1]);
  if (byRule.size === 0) throw refused(undefined, 'no rules', 'expected "rules", with "files" and "key"');
  return [...byRule.values()].map((places) => ruleOf(places, refused));
}

function ruleOf(
  places: readonly ScalarPlace[],
  refused: (place: ScalarPlace | undefined, message: string, hint?: string) => Error,
): Rule {
  const [first] = places;
  const placesOf = (member: string): readonly ScalarPlace[] =>
    places.filter(({ path }) => path[2] === member);
  const textsOf = (member: string): readonly string[] => placesOf(member).map(({ text }) => text);
  for (const place of places) {
    const [, , member = ''] = place.path;
    const isInList = place.path.length === 4;
    if (!TEXTS.has(member) && !LISTS.has(member)) {
      throw refused(
        place,
        `unknown setting ${place.name}`,
        `a rule can have ${[...LISTS, ...TEXTS].join(', ')}`,
      );
    }
    if (
      place.path.length > 4 ||
      (isInList && !LISTS.has(member)) ||
      place.text === '' ||
      place.type === 'null'
    )
      throw refused(
        place,
        `${place.name} must be ${LISTS.has(member) ? 'a string or a list of strings' : 'a string'}`,
      );
  }
  const [key] = textsOf('key');
  const [mount] = textsOf('mount');
  const [format] = textsOf('format');
  const files = textsOf('files');
  if (key === undefined)
    throw refused(first, 'this rule has no "key"', 'add the line "key: NAME", for the key to encrypt with');
  if (files.length === 0)
    throw refused(
      first,
      'this rule has no "files"',
      'add the line "files: PATTERN", for the files to encrypt',
    );
  for (const place of placesOf('files')) {
    const why = whyNever(place.text);
    if (why !== undefined)
      throw refused(place, `the pattern ${JSON.stringify(place.text)} matches no file: ${why}`, PATTERN_FORM);
  }
  if (mount !== undefined && !isMountPath(mount))
    throw refused(placesOf('mount')[0], `invalid mount ${JSON.stringify(mount)}`);
  if (format !== undefined && !isFormat(format)) {
    throw refused(
      placesOf('format')[0],
      `unknown format ${JSON.stringify(format)}`,
      `use one of ${FORMAT_NAMES.join(', ')}`,
    );
  }
  return { files, key, mount, format, only: textsOf('only'), except: textsOf('except') };
}

const PATTERN_FORM = 'use *, ** and ? only; see "coffer help secrets-format"';

/** Returns why a pattern matches no file that a person can mean; undefined if it may match some. */
function whyNever(pattern: string): string | undefined {
  if (pattern.startsWith('!')) return '"!" cannot exclude files';
  if (pattern.split('/').includes('..')) return `".." leads out of the directory of ${RULES_NAME}`;
  if (pattern.includes('\\')) return 'directories are separated by "/", and "\\" has no meaning';
  if (pattern.includes('{') && pattern.includes(',') && pattern.includes('}'))
    return 'braces have no meaning: write a list of patterns';
  return undefined;
}

const isFormat = (text: string): text is FileFormatName => FORMAT_NAMES.some((name) => name === text);

/** Files that Coffer and git read as they are. A pattern as wide as `*` does not mean them. */
const NEVER_ENCRYPTED = new Set([RULES_NAME, '.gitattributes', '.gitignore', '.gitmodules', '.mailmap']);
/** Directory of a keyring. */
const KEYRING = '.coffer';

/**
 * Finds the rule of a file; the rules file itself, a file of a keyring, and what configures git never have one.
 * @param path relative to the directory of the rules, with `/`
 */
export function ruleFor(rules: readonly Rule[], path: string): Rule | undefined {
  const parts = path.split('/');
  if (NEVER_ENCRYPTED.has(parts.at(-1) ?? '') || parts.includes(KEYRING)) return undefined;
  return rules.find(({ files }) =>
    // As in commands, "./" is the directory of the rules.
    files.some((pattern) =>
      covers(
        pattern
          .replace(/^\.(?=\/)/, '')
          .replace(/\/$/, '')
          .split('/'),
        parts,
      ),
    ),
  );
}

/** Whether the rules require a value to be encrypted. Empty values never are. */
export function isSecret(
  place: Pick<ScalarPlace, 'path' | 'type' | 'text'>,
  rule: Pick<Rule, 'only' | 'except'> | undefined,
): boolean {
  if (place.type === 'null' || place.text === '') return false;
  if (rule === undefined) return true;
  const { only, except } = rule;
  return (only.length === 0 || only.some(meant)) && !except.some(meant);

  function meant(pattern: string): boolean {
    return covers(pathOf(pattern), place.path);
  }
}

/**
 * Whether a program could take a readable value for one that must be encrypted: as variables, `db_password` and
 * `db.password` are both DB_PASSWORD. A name that `except` leaves readable is not suspicious.
 */
export function looksSecret(
  place: Pick<ScalarPlace, 'path' | 'type' | 'text'>,
  rule: Pick<Rule, 'only' | 'except'>,
  variable: string,
): boolean {
  if (place.type === 'null' || place.text === '') return false;
  const isExcepted = rule.except.some((pattern) => covers(pathOf(pattern), place.path));
  return (
    !isExcepted && rule.only.some((pattern) => mayCoverVariable(pathOf(pattern), variable.toUpperCase()))
  );
}

/**
 * Patterns for paths and names of values, like those of `.gitignore`: a single part matches at any depth, several parts
 * are relative to the top; a match includes everything below it. Within a part, `*` matches any characters and `?` one;
 * `**` matches any number of parts.
 */

/**
 * Whether a pattern covers a path.
 * @param pattern its parts; an empty first one anchors the others at the top
 */
export function covers(pattern: readonly string[], path: readonly string[]): boolean {
  const [first = '', ...rest] = pattern;
  if (rest.length === 0) return first !== '' && path.some((part) => shellGlob(first, part));
  return startsWith(first === '' ? rest : pattern, path);
}

/**
 * Whether a pattern may cover a path of which only the variable is known that `exec` makes of it: its parts joined by
 * underscores, in upper case. True also where the underscores are those of names: `DB_PASSWORD` is `db.password` as
 * well as `db_password`.
 */
export function mayCoverVariable(pattern: readonly string[], variable: string): boolean {
  const [first = '', ...rest] = pattern;
  let joined = '';
  for (const part of first === '' ? rest : pattern) {
    // `**` may stand for no part, which has no underscore.
    if (joined !== '' && !joined.endsWith('**')) joined += '_';
    joined += part === '**' ? '**' : part.toUpperCase().replace(/[^A-Z0-9_*?]/g, '_');
  }
  // A match covers everything below it anyway.
  joined = joined.replace(/_\*\*$/, '');
  if (joined === '') return false;
  const heads = rest.length === 0 ? ['', '*_'] : [''];
  return heads.some((head) => ['', '_*'].some((tail) => shellGlob(`${head}${joined}${tail}`, variable)));
}

/**
 * Matches from the top, tracking the reachable positions: however many `**` there are, each part is processed once per
 * position.
 */
function startsWith(pattern: readonly string[], path: readonly string[]): boolean {
  let reached = new Set([0]);
  for (const part of pattern) {
    const next = new Set<number>();
    for (const at of reached) {
      if (part === '**') for (let later = at; later <= path.length; later++) next.add(later);
      else if (at < path.length && shellGlob(part, path[at] ?? '')) next.add(at + 1);
    }
    reached = next;
  }
  return reached.size > 0;
}
