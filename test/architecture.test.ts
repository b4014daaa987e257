import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { keyTypeNames } from '../src/transit/key-types/index.ts';
import { expressionsIn, literalsIn } from './costs/found.ts';
import { FOLDERS, folderOf, isBelow, isWithinFolders, mayImport, roomOf } from './floors.ts';
import { withoutComments } from './source-files.ts';

const source = fileURLToPath(new URL('../src', import.meta.url));
interface SourceFile {
  readonly path: string;
  readonly text: string;
  readonly imports: readonly string[];
}

const files: readonly SourceFile[] = readdirSync(source, { recursive: true, encoding: 'utf8' })
  .filter((path) => path.endsWith('.ts'))
  .map((path) => {
    const text = readFileSync(join(source, path), 'utf8');
    return { path, text, imports: importsOf(text) };
  });

function importsOf(text: string): string[] {
  const found = text.matchAll(/(?:\bfrom\s+|\bimport\s*\(\s*|^import\s+)'([^']+)'/gm);
  return [...found].map((match) => match[1] ?? '');
}

/** The path below src that a relative import means, or undefined for a package. */
function targetOf(file: SourceFile, specifier: string): string | undefined {
  if (!specifier.startsWith('.')) return undefined;
  return relative(source, resolve(source, dirname(file.path), specifier));
}

describe('the architecture', () => {
  it('imports downwards only, and never sideways between rooms of one floor', () => {
    const wrong = files.flatMap((file) =>
      file.imports
        .map((specifier) => targetOf(file, specifier))
        .filter((target) => target !== undefined)
        .filter((target) => roomOf(target) !== roomOf(file.path) && !isBelow(target, file.path))
        .map((target) => `${file.path} imports ${target}`),
    );
    expect(wrong).toEqual([]);
  });

  it('imports downwards only between the folders of a room', () => {
    const listed = Object.entries(FOLDERS).flatMap(([room, floors]) =>
      floors.flat().map((folder) => `${room}/${folder}`),
    );
    const found = new Set(
      files.flatMap(({ path }) => (folderOf(path) === undefined ? [] : [path.split('/', 2).join('/')])),
    );
    const rooms = Object.groupBy(found, roomOf);
    const several = Object.values(rooms).flatMap((folders = []) => (folders.length > 1 ? folders : []));
    expect(several.sort()).toEqual(listed.sort());
    const wrong = files.flatMap((file) =>
      file.imports
        .map((specifier) => targetOf(file, specifier))
        .filter((target) => target !== undefined && !isWithinFolders(target, file.path))
        .map((target) => `${file.path} imports ${target}`),
    );
    expect(wrong).toEqual([]);
    expect(isWithinFolders('store/sealed/sealed-store.ts', 'store/slots/unlock.ts')).toBe(false);
    expect(isWithinFolders('cli/memory/any.ts', 'cli/terminal/any.ts')).toBe(false);
  });

  it('has no circle of imports, those of types and those at run time included', () => {
    const edges = new Map(
      files.map((file) => [file.path, file.imports.flatMap((specifier) => targetOf(file, specifier) ?? [])]),
    );
    expect(circles(edges)).toEqual([]);
  });

  it('lets no declaration of the library need a type that some versions of @types/node do not have', () => {
    const byPath = new Map(files.map((file) => [file.path, file]));
    const reached = new Set(['library.ts']);
    for (const path of reached) {
      const file = byPath.get(path);
      for (const specifier of file?.imports ?? []) {
        const target = file && targetOf(file, specifier);
        if (target !== undefined && byPath.has(target)) reached.add(target);
      }
    }
    expect(reached.size).toBeGreaterThan(100);
    // In 24 the type is JsonWebKey of node:crypto, in 26 only webcrypto.JsonWebKey.
    const needing = [...reached].filter((path) =>
      /import[^;]*\bJsonWebKey\b[^;]* from 'node:crypto'/.test(byPath.get(path)?.text ?? ''),
    );
    expect(needing).toEqual([]);
  });

  it('keeps each library to the room that it is for', () => {
    const wrong = files.flatMap((file) =>
      file.imports
        .filter((specifier) => !specifier.startsWith('.') && !mayImport(file.path, specifier))
        .map((specifier) => `${file.path} imports ${specifier}`),
    );
    expect(wrong).toEqual([]);
  });

  it('reads the environment, prints and exits only at the edges', () => {
    const wrong = files
      .filter((file) => !/^(cli\/|main\.ts)/.test(file.path))
      .filter((file) =>
        /\bprocess\.(env|argv|exit\b|exitCode|stdout|stderr|stdin)|\bconsole\./.test(
          withoutComments(file.text),
        ),
      )
      .map((file) => file.path);
    expect(wrong).toEqual([]);
  });

  it('names key types, or parts of their names, only in the room of key types', () => {
    const wrong = files
      .filter((file) => !file.path.startsWith('transit/key-types/'))
      // X25519 is also how slots agree on keys; a store knows no named keys.
      .filter((file) => file.path !== 'store/slots/slot-keys.ts')
      .flatMap((file) => namingsIn(file).map((naming) => `${file.path}: ${naming}`));
    expect(wrong).toEqual([]);
  });

  it.each([
    ["type === 'rsa-2048'", ['rsa-2048']],
    ['/^(?:ecdsa-p\\d+|rsa-\\d+)$/.test(type)', ['/^(?:ecdsa-p\\d+|rsa-\\d+)$/']],
    ['/^(?:aes|chacha20)/.exec(type)', ['/^(?:aes|chacha20)/']],
    ["type.startsWith('rsa')", ['rsa']],
    ["const prefix = 'ml-dsa-'", ['ml-dsa-']],
    [`\`ecdsa-\${curve}\``, ['ecdsa-']],
    ["type.endsWith('-gcm96')", ['-gcm96']],
    ["key.asymmetricKeyType?.startsWith('rsa')", []],
    ['/^[a-z0-9]+$/.test(word)', []],
    ["const example = 'coffer transit keys create web --type rsa-2048'", []],
    ["const algorithm = 'rsa-sha2-512'", []],
  ])('sees which key types are named by %s', (text, named) => {
    expect(namingsIn({ path: 'made-up.ts', text })).toEqual(named);
  });

  it('has no drawer for what found no place', () => {
    const drawers = files
      .map((file) => file.path)
      .filter((path) => /(^|\/)(utils?|helpers?|common|misc|managers?)(\.ts$|\/)/.test(path));
    expect(drawers).toEqual([]);
  });
});

/** `hmac` is also an operation, and a member of requests and answers. */
const TYPE_NAMES: readonly string[] = keyTypeNames().filter((name) => name !== 'hmac');
/** What is shorter is part of anything. */
const LEAST_PART = 3;

/** The texts and expressions of a source that name key types, begin or end as some of them do, or tell some from others. */
function namingsIn({ path, text }: Pick<SourceFile, 'path' | 'text'>): string[] {
  if (!HINT_OF_TYPE.test(text)) return [];
  const { texts, ends } = literalsIn(path, text);
  const isPart = (part: string): boolean =>
    part.length >= LEAST_PART && TYPE_NAMES.some((name) => name.startsWith(part) || name.endsWith(part));
  const partial = texts.filter((each) => /^-|-$/.test(each) && isPart(each));
  const whole = texts.filter((each) => TYPE_NAMES.includes(each));
  const telling = expressionsIn(path, text)
    .written.filter(({ source }) => HINT_OF_TYPE.test(source) && tellsApart(new RegExp(source)))
    .map(({ source }) => `/${source}/`);
  return [...new Set([...whole, ...partial, ...ends.filter(isPart), ...telling])];
}

/** The words of which the names of key types are made, as words or in front of digits. */
const WORDS_OF_TYPES = [...new Set(TYPE_NAMES.flatMap((name) => name.match(/[a-z]{3,}|[a-z]+\d+/g) ?? []))];
const HINT_OF_TYPE = new RegExp(`(?<![a-z])(?:${WORDS_OF_TYPES.join('|')})(?![a-z])`, 'i');

const tellsApart = (expression: RegExp): boolean => {
  const matched = TYPE_NAMES.filter((name) => expression.test(name)).length;
  return matched > 0 && matched < TYPE_NAMES.length;
};

function circles(edges: ReadonlyMap<string, readonly string[]>): string[] {
  const state = new Map<string, 'open' | 'done'>();
  const found: string[] = [];
  const visit = (path: string, trail: readonly string[]): void => {
    if (state.get(path) === 'done') return;
    if (state.get(path) === 'open') {
      found.push([...trail.slice(trail.indexOf(path)), path].join(' → '));
      return;
    }
    state.set(path, 'open');
    for (const next of edges.get(path) ?? []) visit(next, [...trail, path]);
    state.set(path, 'done');
  };
  for (const path of edges.keys()) visit(path, []);
  return found;
}
