import { madeOnce } from '../ground/objects.ts';
import {
  type Carried,
  checkAt,
  type NameChecks,
  refusedAt,
  type TagFile,
  type TagFormat,
} from './tag-file.ts';

/**
 * Comma-separated values as in RFC 4180, with a header line in any order: `workspace` and `tag`, and optionally `key`,
 * `value` and `project`. A line is a tag, a key with its value, or both, on a workspace, with the workspace's project.
 * A line without a workspace is a tag of the pool, or a binding of a project; one with only a workspace is a workspace
 * without tags.
 * @see https://www.rfc-editor.org/rfc/rfc4180
 */
export const csv: TagFormat = { parse, print };

const NEEDED: readonly string[] = ['workspace', 'tag'];
const COLUMNS = ['workspace', 'tag', 'key', 'value', 'project'] as const;
type Column = (typeof COLUMNS)[number];
type Row = Readonly<Record<Column, string>>;

function parse(text: string, file: string, checks?: NameChecks): TagFile {
  const [head, ...records] = recordsIn(text, file);
  const columns = (head?.fields ?? []).map((name) => name.trim().toLowerCase());
  const isStrange = columns.some(
    (name, at) => !COLUMNS.some((known) => known === name) || columns.indexOf(name) !== at,
  );
  if (isStrange || !NEEDED.every((name) => columns.includes(name))) {
    throw refusedAt(
      file,
      'line 1',
      `the first line must name the columns: ${NEEDED.join(' and ')}, and optionally key, value and project`,
    );
  }
  const has = (column: Column): boolean => columns.includes(column);
  const read = new CsvReader(has('key'), has('project'));
  for (const { fields, line } of records) {
    if (fields.length !== columns.length) {
      throw refusedAt(file, `line ${line}`, `expected ${columns.length} fields, found ${fields.length}`);
    }
    const at = (column: Column): string => fields[columns.indexOf(column)] ?? '';
    const row = Object.fromEntries(COLUMNS.map((column) => [column, at(column)])) as Row;
    const problem = read.row(row);
    if (problem !== undefined) throw refusedAt(file, `line ${line}`, problem);
    checkAt(file, `line ${line}`, () => {
      if (row.workspace !== '') checks?.workspace(row.workspace);
      if (row.tag !== '') checks?.tag(row.tag);
      if (row.project !== '') checks?.project?.(row.project);
      if (row.key !== '') checks?.binding?.(row.key, row.value);
    });
  }
  return read.content();
}

interface GatheredRow {
  readonly tags: string[];
  readonly bindings: Map<string, string>;
  project: string;
}

class CsvReader {
  readonly #hasKeys: boolean;
  readonly #hasProjects: boolean;
  readonly #tags: string[] = [];
  readonly #workspaces = new Map<string, GatheredRow>();
  readonly #projects = new Map<string, Map<string, string>>();

  constructor(hasKeys: boolean, hasProjects: boolean) {
    this.#hasKeys = hasKeys;
    this.#hasProjects = hasProjects;
  }

  /**
   * Adds a line.
   * @returns the problem, if there is one
   */
  row(row: Row): string | undefined {
    const { workspace, tag, key, value, project } = row;
    if (key === '' && value !== '') return 'this line has a value, but no key';
    if (workspace !== '') return this.#onWorkspace(row);
    if (project !== '') {
      if (tag !== '') return 'projects have KEY=VALUE tags only';
      const bindings = madeOnce(this.#projects, project, () => new Map<string, string>());
      return key === '' ? undefined : bind(bindings, key, value);
    }
    if (key !== '') return 'this line has a key, but no workspace and no project';
    if (tag === '') return 'this line is empty';
    this.#tags.push(tag);
    return undefined;
  }

  #onWorkspace({ workspace, tag, key, value, project }: Row): string | undefined {
    const none = (): GatheredRow => ({ tags: [], bindings: new Map(), project });
    const carried = madeOnce(this.#workspaces, workspace, none);
    if (project !== '' && carried.project !== '' && carried.project !== project) {
      return `another line says that ${workspace} is in the project ${carried.project}`;
    }
    carried.project ||= project;
    if (tag !== '') carried.tags.push(tag);
    return key === '' ? undefined : bind(carried.bindings, key, value);
  }

  content(): TagFile {
    const workspaces = [...this.#workspaces].map(([name, { tags, bindings, project }]) => {
      const carried: Carried = {
        tags,
        // An empty field is not a list without entries, so that a line that only moves a workspace removes no keys.
        bindings: bindings.size > 0 ? bindings : undefined,
        project: project || undefined,
      };
      return [name, carried] as const;
    });
    return {
      tags: this.#tags,
      workspaces: new Map(workspaces),
      projects: this.#hasProjects && this.#hasKeys ? this.#projects : undefined,
    };
  }
}

function bind(bindings: Map<string, string>, key: string, value: string): string | undefined {
  if (bindings.has(key)) return `duplicate entry "${key}"`;
  bindings.set(key, value);
  return undefined;
}

/**
 * Field in quotes with `""` for a quote, or without quotes; followed by a comma, the end of the line, or the end of the
 * text.
 */
const FIELD = /(?:"(?<quoted>[^"]*(?:""[^"]*)*)"|(?<plain>[^",\r\n]*))(?<end>,|\r?\n|$)/y;

function recordsIn(text: string, file: string) {
  const records: { readonly fields: readonly string[]; readonly line: number }[] = [];
  let fields: string[] = [];
  let line = 1;
  let begun = 1;
  FIELD.lastIndex = text.startsWith('\ufeff') ? 1 : 0;
  while (FIELD.lastIndex < text.length || fields.length > 0) {
    const match = FIELD.exec(text);
    if (match === null)
      throw refusedAt(
        file,
        `line ${line}`,
        'a quote is not closed, or is inside a field without being doubled',
      );
    const { quoted, plain, end } = match.groups ?? {};
    fields.push(quoted === undefined ? (plain ?? '') : quoted.replaceAll('""', '"'));
    line += match[0].split('\n').length - 1;
    if (end === ',') continue;
    if (fields.length > 1 || fields[0] !== '') records.push({ fields, line: begun });
    fields = [];
    begun = line;
  }
  return records;
}

function print(content: TagFile): string {
  const rows = rowsOf(content);
  const columns = COLUMNS.filter((column) => NEEDED.includes(column) || rows.some((row) => row[column]));
  // A value always comes with its key, and a key with its value.
  const shown = columns.includes('key')
    ? COLUMNS.filter((column) => column === 'value' || columns.includes(column))
    : columns;
  const lines = rows.map((row) => shown.map((column) => field(row[column] ?? '')).join(','));
  return [shown.join(','), ...lines, ''].join('\n');
}

/** Formats the lines; tags and keys of a workspace share them. */
function rowsOf({ tags, workspaces, projects = new Map() }: TagFile): readonly Partial<Row>[] {
  const rows: Partial<Row>[] = tags.map((tag) => ({ tag }));
  for (const [project, bindings] of projects) {
    if (bindings.size === 0) rows.push({ project });
    for (const [key, value] of bindings) rows.push({ project, key, value });
  }
  for (const [workspace, { tags: carried, bindings = new Map(), project = '' }] of workspaces) {
    const bound = [...bindings];
    for (let at = 0; at < Math.max(1, carried.length, bound.length); at++) {
      const [key = '', value = ''] = bound[at] ?? [];
      rows.push({ workspace, tag: carried[at] ?? '', key, value, project });
    }
  }
  return rows;
}

const field = (text: string): string => (/[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
