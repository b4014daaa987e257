import { execFileSync } from 'node:child_process';
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it, onTestFinished } from 'vitest';
import { FLOORS, isBelow, mayImport, RESERVED, roomOf } from './floors.ts';

const linter = createRequire(import.meta.url).resolve('@biomejs/biome/bin/biome');
const configuration = fileURLToPath(new URL('../biome.json', import.meta.url));

/** A file in each room, at two depths, and one in each folder that has a library for itself. */
const IMPORTERS: readonly string[] = [
  ...Object.keys(FLOORS)
    .filter((room) => !room.endsWith('.ts'))
    .flatMap((room) => [`${room}/made-up.ts`, `${room}/further/made-up.ts`]),
  ...RESERVED.flatMap(([, folders]) => folders)
    .filter((folder, index, all) => folder.includes('/') && all.indexOf(folder) === index)
    .map((folder) => `${folder}/made-up.ts`),
];
const ROOM_TARGETS: readonly string[] = Object.keys(FLOORS).map((room) =>
  room.endsWith('.ts') ? room : `${room}/target.ts`,
);
const LIBRARIES: readonly string[] = RESERVED.flatMap(([libraries]) =>
  libraries.map((library) => library.replaceAll('*', 'something')),
);

/** How a file names another one below src. */
const specifier = (from: string, to: string): string =>
  from.includes('/') ? `${'../'.repeat(from.split('/').length - 1)}${to}` : `./${to}`;

const isAllowedRoom = (from: string, to: string): boolean => roomOf(from) === roomOf(to) || isBelow(to, from);
/** Runs the linter as it is set up here over files below `src`. @returns what each rule found, as `file:line`. */
function lint(files: Readonly<Record<string, string>>): Readonly<Record<string, readonly string[]>> {
  const directory = mkdtempSync(join(tmpdir(), 'coffer-lint-'));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  copyFileSync(configuration, join(directory, 'biome.json'));
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(directory, 'src', path)), { recursive: true });
    writeFileSync(join(directory, 'src', path), text);
  }
  const found: Record<string, string[]> = {};
  for (const { category, location } of diagnosticsIn(directory)) {
    const place = `${location.path.replace('src/', '')}:${location.start.line}`;
    found[category] = [...(found[category] ?? []), place].sort();
  }
  return found;
}

interface Diagnostic {
  readonly category: string;
  readonly location: { readonly path: string; readonly start: { readonly line: number } };
}

function diagnosticsIn(directory: string): readonly Diagnostic[] {
  const run = (): string =>
    execFileSync(
      process.execPath,
      [linter, 'lint', '--vcs-enabled=false', '--reporter=json', '--max-diagnostics=none', 'src'],
      { cwd: directory, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] },
    );
  try {
    return JSON.parse(run()).diagnostics;
  } catch (error) {
    // It exits with 1 when it has found something.
    return JSON.parse((error as { readonly stdout: string }).stdout).diagnostics;
  }
}

describe('the linter', () => {
  it('refuses imports up and sideways, and of libraries outside of their rooms, and no others', () => {
    const lines = (from: string) => [
      ...ROOM_TARGETS.map((to) => ({ text: specifier(from, to), allowed: isAllowedRoom(from, to) })),
      ...LIBRARIES.map((library) => ({ text: library, allowed: mayImport(from, library) })),
    ];
    const files = IMPORTERS.map((from) => [
      from,
      lines(from)
        .map(({ text }) => `import '${text}';\n`)
        .join(''),
    ]);
    const wrong = IMPORTERS.flatMap((from) =>
      lines(from).flatMap(({ allowed }, index) => (allowed ? [] : [`${from}:${index + 1}`])),
    );
    expect(lint(Object.fromEntries(files))['lint/style/noRestrictedImports']).toEqual(wrong.sort());
  });

  it('refuses a file of more than 400 lines', () => {
    const lines = (count: number): string => 'await 0;\n'.repeat(count);
    const found = lint({ 'store/short.ts': lines(400), 'store/long.ts': lines(401) });
    expect(found['lint/style/noExcessiveLinesPerFile']).toEqual(['store/long.ts:1']);
  });
});
