import { isMountPath } from '../mounts/paths.ts';
import { FORMAT_NAMES, type FormatName, type Place, pathOf, refusedAt, type SecretFile } from './format.ts';
import { covers } from './patterns.ts';

/** What the file with the rules is called. It is looked for in the directory of a file and in those above it. */
export const RULES_NAME = '.coffer.yaml';

/** What is encrypted in some files, and with which key. @see docs/decisions/0148 */
export interface Rule {
  /** Patterns of paths, from the directory of the rules. */
  readonly files: readonly string[];
  readonly key: string;
  readonly mount: string | undefined;
  /** For files whose names don't tell it. */
  readonly format: FormatName | undefined;
  /** Patterns of names: without them every value is meant. */
  readonly only: readonly string[];
  /** Patterns of names that are meant to stay readable, whatever `only` says. */
  readonly except: readonly string[];
}

const TEXTS = new Set(['key', 'mount', 'format']);
const LISTS = new Set(['files', 'only', 'except']);

/**
 * Rules from `rules:`, a list. Of several that match a file the first one holds.
 * @param document the file with the rules, read as YAML.
 * @param file what errors call it.
 * @throws `invalid` naming line and member.
 */
export function rulesIn(document: SecretFile, file: string): readonly Rule[] {
  const refused = (place: Place | undefined, message: string, hint?: string) =>
    refusedAt(file, document.text, place?.start ?? 0, message, hint);
  const byRule = new Map<string, Place[]>();
  for (const place of document.places) {
    const [top, index = ''] = place.path;
    if (top !== 'rules' || place.path.length < 3) {
      throw refused(
        place,
        `${place.name} means nothing here`,
        'rules: is a list of rules, each with files: and key:',
      );
    }
    const members = byRule.get(index);
    if (members === undefined) byRule.set(index, [place]);
    else members.push(place);
  }
  if (byRule.size === 0) throw refused(undefined, 'there are no rules', 'give rules: with files: and key:');
  return [...byRule.values()].map((places) => ruleOf(places, refused));
}

function ruleOf(
  places: readonly Place[],
  refused: (place: Place | undefined, message: string, hint?: string) => Error,
): Rule {
  const [first] = places;
  const placesOf = (member: string): readonly Place[] => places.filter(({ path }) => path[2] === member);
  const textsOf = (member: string): readonly string[] => placesOf(member).map(({ text }) => text);
  for (const place of places) {
    const [, , member = ''] = place.path;
    const isInList = place.path.length === 4;
    if (!TEXTS.has(member) && !LISTS.has(member)) {
      throw refused(
        place,
        `${place.name} means nothing here`,
        `a rule has ${[...LISTS, ...TEXTS].join(', ')}`,
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
        `${place.name} has to be ${LISTS.has(member) ? 'a text or a list of texts' : 'a text'}`,
      );
  }
  const [key] = textsOf('key');
  const [mount] = textsOf('mount');
  const [format] = textsOf('format');
  const files = textsOf('files');
  if (key === undefined) throw refused(first, 'this rule has no key:', 'name the key that encrypts');
  if (files.length === 0) throw refused(first, 'this rule has no files:', 'say for which files it is');
  if (mount !== undefined && !isMountPath(mount))
    throw refused(placesOf('mount')[0], `${JSON.stringify(mount)} is no mount`);
  if (format !== undefined && !isFormat(format)) {
    throw refused(
      placesOf('format')[0],
      `there is no format ${JSON.stringify(format)}`,
      `use one of ${FORMAT_NAMES.join(', ')}`,
    );
  }
  return { files, key, mount, format, only: textsOf('only'), except: textsOf('except') };
}

const isFormat = (text: string): text is FormatName => FORMAT_NAMES.some((name) => name === text);

/** @param path from the directory of the rules, with `/`. The rules themselves are never meant. */
export function ruleFor(rules: readonly Rule[], path: string): Rule | undefined {
  const parts = path.split('/');
  if (parts.at(-1) === RULES_NAME) return undefined;
  return rules.find(({ files }) => files.some((pattern) => covers(pattern.split('/'), parts)));
}

/** Whether a value is to be encrypted. What is empty hides nothing. */
export function isSecret(
  place: Pick<Place, 'path' | 'type' | 'text'>,
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
