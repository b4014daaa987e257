import {
  type FileFormat,
  nameOf,
  refuseConflicts,
  refusedAt,
  type ScalarPlace,
  type SecretFile,
} from './format.ts';
import {
  addedInFlow,
  gapFor,
  parentOf,
  refuseToMoveOthers,
  removedInFlow,
  type TreeBranch,
  type TreeEntry,
} from './tree.ts';
import { parseValue } from './value.ts';

/** Strict JSON (RFC 8259); duplicate keys in an object are refused. */
export const json: FileFormat = { name: 'json', parse };

/** Maximum nesting depth: deeper than any file with secrets, and safe for the stack. */
const MAX_DEPTH = 200;

const BLANKS = /[ \t\r\n]*/y;
/** Only finds the end of a string; its content is validated by JSON.parse. */
const STRING = /"[^"\\]*(?:\\[\s\S][^"\\]*)*"/y;
const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?(?![\w.+-])/y;
const BOOLEAN = /(?:true|false)(?!\w)/y;
const NULL = /null(?!\w)/y;
const BYTE_ORDER_MARK = '\ufeff';

function parse(text: string, file: string): SecretFile {
  refuseConflicts(text, file);
  const reader = new JsonReader(text, file);
  const root = reader.read();
  return {
    format: 'json',
    text,
    places: reader.places,
    written: (_place, value) => JSON.stringify(value),
    added(name, value) {
      const { branch, missing } = gapFor(root, name);
      return addedInFlow(text, branch, { missing, value }, (key) => JSON.stringify(key));
    },
    removed(place) {
      const parent = parentOf(root, place);
      if (parent === undefined) throw new RangeError('that place is in another file');
      refuseToMoveOthers(parent.branch, parent.index, place);
      return removedInFlow(text, parent.branch, parent.index);
    },
  };
}

class JsonReader {
  readonly places: ScalarPlace[] = [];
  readonly #text: string;
  readonly #file: string;
  #at = 0;

  constructor(text: string, file: string) {
    this.#text = text;
    this.#file = file;
    if (text.startsWith(BYTE_ORDER_MARK)) this.#at = 1;
  }

  read(): TreeBranch {
    this.#take(BLANKS);
    const root = this.#branch([]);
    if (root === undefined) throw this.#refused('expected { or [ here');
    this.#take(BLANKS);
    if (this.#at < this.#text.length) throw this.#refused('there is more text after the end of the document');
    return root;
  }

  #branch(path: readonly string[]): TreeBranch | undefined {
    const start = this.#at;
    const bracket = this.#text[start];
    if (bracket !== '{' && bracket !== '[') return undefined;
    if (path.length === MAX_DEPTH) throw this.#refused('nested too deeply');
    this.#at++;
    const isList = bracket === '[';
    const entries = this.#entries(path, isList);
    return { isList, isFlow: true, start, end: this.#at, entries };
  }

  #entries(path: readonly string[], isList: boolean): readonly TreeEntry[] {
    const close = isList ? ']' : '}';
    const entries: TreeEntry[] = [];
    const keys = new Set<string>();
    this.#take(BLANKS);
    if (this.#takes(close)) return entries;
    for (;;) {
      this.#take(BLANKS);
      const start = this.#at;
      const key = isList ? String(entries.length) : this.#key(keys);
      const below = [...path, key];
      const value = this.#branch(below) ?? this.#scalar(below);
      entries.push({ key, start, end: this.#at, value });
      this.#take(BLANKS);
      if (this.#takes(close)) return entries;
      const comma = this.#at;
      if (!this.#takes(',')) throw this.#refused(`a comma or "${close}" is missing`);
      this.#take(BLANKS);
      if (this.#text[this.#at] === close) throw this.#refused(`remove the comma before "${close}"`, comma);
    }
  }

  #key(keys: Set<string>): string {
    const start = this.#at;
    const source = this.#take(STRING);
    if (source === undefined) throw this.#refused('a key in double quotes is missing');
    const key = this.#meaning(source, start);
    if (keys.has(key)) throw this.#refused(`duplicate key ${source}`, start);
    keys.add(key);
    this.#take(BLANKS);
    if (!this.#takes(':')) throw this.#refused('a colon is missing');
    this.#take(BLANKS);
    return key;
  }

  #scalar(path: readonly string[]): ScalarPlace {
    const start = this.#at;
    const string = this.#take(STRING);
    const number = string === undefined ? this.#take(NUMBER) : undefined;
    const boolean = this.#at === start ? this.#take(BOOLEAN) : undefined;
    const source = string ?? number ?? boolean ?? this.#take(NULL);
    if (source === undefined)
      throw this.#refused(
        this.#at < this.#text.length
          ? 'not valid JSON: expected a value (a string needs double quotes)'
          : 'not valid JSON: the file ends where a value is expected',
      );
    const text = string === undefined ? source : this.#meaning(string, start);
    const type = string ? 'string' : number ? 'number' : boolean ? 'boolean' : 'null';
    const place: ScalarPlace = {
      name: nameOf(path),
      path,
      start,
      end: this.#at,
      source,
      text,
      type,
      sealed: type === 'string' ? parseValue(text) : undefined,
    };
    this.places.push(place);
    return place;
  }

  #meaning(source: string, start: number): string {
    try {
      return JSON.parse(source) as string;
    } catch {
      throw this.#refused('this string has a character or an escape that JSON does not allow', start);
    }
  }

  #take(pattern: RegExp): string | undefined {
    pattern.lastIndex = this.#at;
    const [found] = pattern.exec(this.#text) ?? [];
    this.#at += found?.length ?? 0;
    return found;
  }

  #takes(character: string): boolean {
    if (this.#text[this.#at] !== character) return false;
    this.#at++;
    return true;
  }

  #refused(message: string, at = this.#at) {
    return refusedAt(this.#file, { text: this.#text, offset: at, message });
  }
}
