import {
  isAlias,
  isCollection,
  isMap,
  isPair,
  isScalar,
  type ParsedNode,
  parseAllDocuments,
  type Scalar,
  type YAMLError,
  type YAMLMap,
  type YAMLSeq,
} from 'yaml';
import { type CofferError, invalid } from '../ground/errors.ts';
import {
  type AliasPlace,
  type FileFormat,
  nameOf,
  otherNameRefused,
  refuseConflicts,
  refusedAt,
  type ScalarPlace,
  type ScalarType,
  type SecretFile,
} from './format.ts';
import type { TreeBranch, TreeEntry } from './tree.ts';
import { parseValue } from './value.ts';
import { type AliasedPlace, Anchors } from './yaml-anchors.ts';
import { addedToYaml, removedFromYaml, type YamlDocument, yamlString } from './yaml-edit.ts';

/**
 * YAML 1.2 with its core schema. Anchors, tags, comments and layout are preserved: only the scalar's own range is
 * replaced, and nothing else is rewritten. An alias has no value of its own, and an encrypted value has no alias.
 * @see docs/decisions/0286
 */
export const yaml: FileFormat = { name: 'yaml', parse, asOthersRead };

const OPTIONS = {
  // The package's own check is quadratic in the number of keys.
  uniqueKeys: false,
  logLevel: 'silent',
  prettyErrors: false,
} as const;

function parse(text: string, file: string): SecretFile {
  refuseConflicts(text, file);
  const walk = new Walk(text, file);
  const documents = documentsIn(text, file).map((contents, index): YamlDocument => {
    const prefix = index === 0 ? '' : `${index + 1}#`;
    return { prefix, root: contents === null ? undefined : walk.document(contents, prefix) };
  });
  refuseOtherLineEnds(text, walk.places, file);
  return {
    format: 'yaml',
    text,
    places: walk.places,
    aliases: walk.aliases,
    written: (place, value) => {
      const blank = place.start === place.end && !/\s/.test(text[place.start - 1] ?? '\n') ? ' ' : '';
      return `${blank}${walk.isInFlow(place) ? JSON.stringify(value) : yamlString(value)}`;
    },
    added: (name, value) => addedToYaml(text, documents, name, value),
    removed: (place) => removedFromYaml(text, documents, place),
  };
}

/**
 * Parses the content of each document.
 * @throws `invalid` for the first mistake
 */
function documentsIn(text: string, file: string): readonly (ParsedNode | null)[] {
  try {
    return parseAllDocuments(text, OPTIONS).map(({ errors, contents }) => {
      const [error] = errors;
      if (error?.code === 'RESOURCE_EXHAUSTION') throw tooDeep(file);
      if (error !== undefined)
        throw refusedAt(file, {
          text,
          offset: error.pos[0],
          message: `invalid YAML: ${withoutContent(error)}`,
        });
      return contents as ParsedNode | null;
    });
  } catch (error) {
    throw error instanceof RangeError ? tooDeep(file) : error;
  }
}

/**
 * Line ends of YAML 1.1 (PyYAML, libyaml, go-yaml and others) that the package does not treat as such: NEL, LS, PS, and
 * a lone CR. A comment or a part of a text here is then a separate line there.
 */
const OTHER_LINE_ENDS = /[\x85\u2028\u2029]|\r(?!\n)/g;

function asOthersRead({ text, places }: SecretFile): string | undefined {
  let read = '';
  let at = 0;
  for (const index of otherLineEnds(text, places)) {
    read += `${text.slice(at, index)}\n`;
    at = index + 1;
  }
  return at === 0 ? undefined : read + text.slice(at);
}

/** Yields the positions of such characters, except in quoted values, where they do not end anything. */
function* otherLineEnds(text: string, places: readonly ScalarPlace[]): Generator<number> {
  let next = 0;
  for (const { index } of text.matchAll(OTHER_LINE_ENDS)) {
    while ((places[next]?.end ?? text.length) <= index) next++;
    const { start = text.length, source = '' } = places[next] ?? {};
    if (start >= index || !/^["']/.test(source)) yield index;
  }
}

/**
 * Refuses such characters in a file with encrypted values: others would see additional aliases, or the values under
 * other names than those that they are bound to.
 */
function refuseOtherLineEnds(text: string, places: readonly ScalarPlace[], file: string): void {
  if (!places.some(({ sealed }) => sealed !== undefined)) return;
  for (const index of otherLineEnds(text, places)) {
    throw refusedAt(file, {
      text,
      offset: index,
      message: 'a character here ends a line in some YAML parsers but not in others',
      hint: 'remove it, or write it in double quotes as an escape: \\N, \\L, \\P or \\r',
    });
  }
}

/** Errors for which the package quotes the file, which may contain a secret. */
const UNQUOTED: Readonly<Record<string, string>> = {
  BAD_DQ_ESCAPE: 'unknown escape',
  BAD_DIRECTIVE: 'unknown directive',
  TAG_RESOLVE_FAILED: 'unknown tag',
};

/**
 * Returns the package's message without the text after a colon at the end of a word, which is part of the file as well.
 */
function withoutContent({ code, message }: YAMLError): string {
  const said = UNQUOTED[code] ?? message.replace(/(?<! ): [\s\S]*/, '');
  return said.charAt(0).toLowerCase() + said.slice(1);
}

const tooDeep = (file: string): CofferError => invalid(`${file}: nested too deeply`);

interface Where {
  readonly prefix: string;
  readonly path: readonly string[];
  readonly inFlow: boolean;
}

/** Maximum nesting depth: deeper than any file with secrets, and safe for the stack. */
const MAX_DEPTH = 200;

/**
 * Tags of keys that mean their literal text. With PyYAML and js-yaml, `!!merge staging: {…}` moves the values one level
 * up, whatever the key, and `!!value` makes one the value of its map.
 */
const MEANS_NAME: ReadonlySet<string | undefined> = new Set([undefined, '!', 'tag:yaml.org,2002:str']);

class Walk {
  readonly places: AliasedPlace[] = [];
  readonly aliases: AliasPlace[] = [];
  readonly #inFlow = new Set<ScalarPlace>();
  readonly #text: string;
  readonly #file: string;
  #anchors = new Anchors(0);

  constructor(text: string, file: string) {
    this.#text = text;
    this.#file = file;
  }

  isInFlow(place: ScalarPlace): boolean {
    return this.#inFlow.has(place);
  }

  /**
   * Walks a document.
   * @throws `invalid` for a document that is a single value, which has no name, and for an alias of an encrypted value
   */
  document(contents: ParsedNode, prefix: string): TreeBranch | undefined {
    if (isScalar(contents) && contents.value === null) return undefined;
    this.#anchors = new Anchors(this.places.length);
    const value = this.#value(contents, { prefix, path: [], inFlow: false });
    this.#anchors.mark(this.places, this.#text, this.#file);
    if (value !== undefined && !('source' in value)) return value;
    throw this.#refused(contents.range[0], 'expected a map or a list here');
  }

  #refused(offset: number, message: string): CofferError {
    return refusedAt(this.#file, { text: this.#text, offset, message });
  }

  #value(node: unknown, where: Where): TreeBranch | ScalarPlace | undefined {
    if (isAlias(node)) {
      const [start] = rangeOf(node);
      this.#anchors.use(node.source, start);
      this.aliases.push({ name: where.prefix + nameOf(where.path), path: where.path, start });
    }
    if (!isScalar(node) && !isCollection(node)) return undefined;
    const end = this.#anchors.begin(node.anchor, this.places.length);
    const value = isScalar(node) ? this.#scalar(node as Scalar.Parsed, where) : this.#branch(node, where);
    end(this.places.length);
    return value;
  }

  #branch(node: YAMLMap | YAMLSeq, where: Where): TreeBranch {
    const [start = 0, end = 0] = node.range ?? [];
    if (where.path.length === MAX_DEPTH) throw this.#refused(start, 'nested too deeply');
    const isFlow = node.flow === true;
    const isList = !isMap(node);
    const inside = { ...where, inFlow: where.inFlow || isFlow };
    const entries: TreeEntry[] = [];
    const keys = new Set<string>();
    for (const item of node.items) {
      const from = this.places.length;
      const entry = isPair(item)
        ? this.#member(item, inside, keys)
        : this.#item(item, inside, String(entries.length), entries.at(-1)?.end ?? start);
      entries.push(entry);
      // A tag can make a list a map, whose values other readers find under numbers.
      if (isList && isPair(item)) this.#renamed(from, entry.start);
    }
    return { isList, isFlow, start, end, entries };
  }

  #member(
    { key, value }: { readonly key: unknown; readonly value: unknown },
    where: Where,
    keys: Set<string>,
  ): TreeEntry {
    this.#key(key, where.path.length);
    const [start, keyEnd] = rangeOf(key);
    const name = isScalar(key) && key.type !== 'PLAIN' ? String(key.value) : this.#text.slice(start, keyEnd);
    if (keys.has(name)) throw this.#refused(start, `duplicate key ${JSON.stringify(name)}`);
    keys.add(name);
    const from = this.places.length;
    const inner = this.#value(value, { ...where, path: [...where.path, name] });
    if (isScalar(key) && !MEANS_NAME.has(key.tag)) this.#renamed(from, start);
    return { key: name, start, end: endOf(inner, value, keyEnd), value: inner };
  }

  /**
   * Marks the values below a key whose tag changes its meaning for some readers.
   * @throws `invalid` if one is encrypted
   */
  #renamed(from: number, offset: number): void {
    for (const place of this.places.slice(from)) {
      place.otherNameAt = offset;
      if (place.sealed !== undefined) throw otherNameRefused('yaml', this.#file, this.#text, place);
    }
  }

  /** Records anchors and aliases in a key, which contains no values but may be an alias of one. */
  #key(node: unknown, depth: number): void {
    if (isAlias(node)) this.#anchors.use(node.source, rangeOf(node)[0]);
    if (!isScalar(node) && !isCollection(node)) return;
    this.#anchors.begin(node.anchor, this.places.length);
    if (isScalar(node)) return;
    if (depth === MAX_DEPTH) throw this.#refused(rangeOf(node)[0], 'nested too deeply');
    for (const item of node.items) {
      this.#key(isPair(item) ? item.key : item, depth + 1);
      if (isPair(item)) this.#key(item.value, depth + 1);
    }
  }

  /**
   * Walks a list item.
   * @param from where the search for its dash starts; no comment line before it can begin with one
   */
  #item(node: unknown, where: Where, key: string, from: number): TreeEntry {
    const [nodeStart] = rangeOf(node);
    const dash = key === '0' ? 0 : /\n[ \t]*-(?=\s|$)/.exec(this.#text.slice(from, nodeStart));
    const start = where.inFlow
      ? nodeStart
      : dash === 0 || dash === null
        ? from
        : from + dash.index + dash[0].length - 1;
    const value = this.#value(node, { ...where, path: [...where.path, key] });
    return { key, start, end: endOf(value, node, nodeStart), value };
  }

  #scalar(node: Scalar.Parsed, { prefix, path, inFlow }: Where): ScalarPlace {
    const [start, valueEnd] = node.range;
    const isBlock = node.type === 'BLOCK_LITERAL' || node.type === 'BLOCK_FOLDED';
    const end = isBlock ? blockEnd(this.#text, start, valueEnd) : valueEnd;
    const source = this.#text.slice(start, end);
    const type = typeOf(node.value);
    const text =
      typeof node.value === 'string' ? node.value : node.type === 'PLAIN' ? source : (node.source ?? source);
    const place: AliasedPlace = {
      name: prefix + nameOf(path),
      path,
      start,
      end,
      source,
      text,
      type,
      sealed: parseValue(text),
    };
    this.places.push(place);
    if (inFlow) this.#inFlow.add(place);
    return place;
  }
}

function rangeOf(node: unknown): readonly [start: number, end: number] {
  const [start = 0, end = start] = (node as Partial<ParsedNode> | null)?.range ?? [];
  return [start, end];
}

const endOf = (value: TreeBranch | ScalarPlace | undefined, node: unknown, least: number): number => {
  if (value !== undefined && 'entries' in value && !value.isFlow)
    return value.entries.at(-1)?.end ?? value.end;
  return Math.max(value?.end ?? rangeOf(node)[1], least);
};

function typeOf(value: unknown): ScalarType {
  if (value === null) return 'null';
  return typeof value === 'number' || typeof value === 'boolean' ? (typeof value as ScalarType) : 'string';
}

/**
 * Returns the end of a block scalar, without its last line end, and without following empty lines unless they are part
 * of the value.
 */
function blockEnd(text: string, start: number, end: number): number {
  const source = text.slice(start, end);
  const header = /^[^\r\n]*/.exec(source)?.[0] ?? '';
  const keepsAll = /^[|>][0-9-]*\+/.test(header);
  const kept = keepsAll ? source.replace(/\r?\n$/, '') : source.trimEnd();
  return start + Math.max(kept.length, header.length);
}
