import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { runInNewContext } from 'node:vm';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { EXECUTABLE_PARTS, PARTS } from '../../scripts/bundle.ts';
import { UNLOCK_VARIABLES } from '../../src/cli/secrets/secret-variables.ts';
import { builtCommand } from '../built.ts';
import { emptyPlace, MASTER_KEY, type Place, removePlace } from './harness.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));

let place: Place;

/** Installs the command with only some of its parts beside it. */
function install(parts: readonly string[]): string {
  const directory = place.file('installed');
  rmSync(directory, { recursive: true, force: true });
  mkdirSync(join(directory, 'dist'), { recursive: true });
  cpSync(join(root, 'bin'), join(directory, 'bin'), { recursive: true });
  for (const part of parts) cpSync(join(root, 'dist', part), join(directory, 'dist', basename(part)));
  return directory;
}

const runIn = (directory: string, ...words: readonly string[]): string =>
  execFileSync(process.execPath, [join(directory, 'bin/coffer'), ...words], {
    cwd: place.directory,
    env: place.environment({}),
    encoding: 'utf8',
    stdio: 'pipe',
    timeout: 60_000,
  });

/** Runs the command with only some of its parts beside it: loading another one fails. */
const run = (parts: readonly string[], ...words: readonly string[]): string =>
  runIn(install(parts), ...words);

const words = (line: string): readonly string[] => line.split(' ');

beforeAll(() => {
  builtCommand();
  place = emptyPlace({ COFFER_MASTER_KEY: MASTER_KEY });
  for (const line of ['init -q', 'transit keys create orders -q', 'orgs create acme -q'])
    run(PARTS, ...words(line));
  writeFileSync(place.file('data.txt'), 'hello');
  writeFileSync(place.file('.env'), 'NAME=value\n');
  run(PARTS, ...words('transit keys create signer --type ed25519 -q'));
  run(PARTS, ...words('sign data.txt --key signer -q'));
  writeFileSync(place.file('signer.pub'), run(PARTS, ...words('transit keys public signer')));
});
afterAll(() => removePlace(place));

describe('the parts of the command', () => {
  it('are all in the package', () => {
    const { files } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { files: string[] };
    const listed = files.filter((name) => name.endsWith('.cjs'));
    expect(listed.sort()).toEqual(PARTS.map((part) => `dist/${part}`).sort());
  });

  it.each(['transit encrypt orders hello', 'exec -f .env -- true', '--version'])(
    'are not needed beside the first one by %s',
    (line) => {
      expect(() => run(['coffer.cjs'], ...words(line))).not.toThrow();
    },
  );

  it.each([
    ['everyday', 'transit keys list'],
    ['everyday', 'transit keys read orders'],
    ['everyday', 'status'],
    ['everyday', 'orgs list'],
    ['everyday', 'tags list --org acme'],
    ['files', 'transit envelope encrypt orders --in data.txt --out data.enc -q'],
    ['help', 'transit keys --help'],
  ])('are not needed beside the first one and that of %s by %s', (part, line) => {
    expect(() => run(['coffer.cjs', `coffer-${part}.cjs`], ...words(line))).not.toThrow();
  });

  it('have one for what changes a store', () => {
    const parts = ['coffer.cjs', 'coffer-everyday.cjs', 'coffer-changes.cjs'];
    expect(() => run(parts, ...words('transit keys rotate orders -q'))).not.toThrow();
  });

  it('are refused where an upgrade replaced one while the command runs, which does not search it for ever', () => {
    const directory = install(PARTS);
    writeFileSync(join(directory, 'dist/coffer-changes.cjs'), 'module.exports = {};\n');
    expect(() => runIn(directory, ...words('transit keys rotate orders -q'))).toThrow(
      "coffer: unexpected: the program's files were replaced while it was running, or are incomplete",
    );
  });

  it('have one for tables alone', () => {
    const parts = ['coffer.cjs', 'coffer-everyday.cjs', 'coffer-table.cjs'];
    expect(run(parts, ...words('transit keys list -o table'))).toContain('orders');
  });
});

describe('the parts of the executable', () => {
  /** Names of the chunks in a file. */
  const chunksIn = (part: string): readonly string[] =>
    [
      ...readFileSync(join(root, 'dist', part), 'utf8').matchAll(
        /(?:^|\{)(\w+):function\(require,module,exports\)/gm,
      ),
    ].map(([, name = '']) => name);

  it('are chosen by the variables that hold the secret of a store', () => {
    const main = readFileSync(join(root, 'scripts/executable.cjs'), 'utf8');
    const [, code = ''] = /^const SECRETS = ([^;]*;\nconst opens = [^;]*);/m.exec(main) ?? [];
    const opens = runInNewContext(
      `(env) => { const process = { env }; const SECRETS = ${code}; return opens; }`,
    );
    const chosen = UNLOCK_VARIABLES.filter((name) => opens({ [name]: 'x' }));
    expect(chosen).toEqual(UNLOCK_VARIABLES);
    expect(opens({ COFFER_TOKEN: 'x' })).toBe(false);
  });

  it('have each chunk of the package once', () => {
    const packed = PARTS.flatMap(chunksIn);
    expect(packed.length).toBeGreaterThan(100);
    expect(EXECUTABLE_PARTS.flatMap(chunksIn).sort()).toEqual(packed.sort());
  });

  it.each([
    ['--version', []],
    ['transit encrypt orders hello', ['executable/coffer-store.cjs']],
    ['exec -f .env -- true', ['executable/coffer-values.cjs']],
    [
      'transit envelope encrypt orders --in data.txt --out data.age -q',
      ['executable/coffer-store.cjs', 'coffer-files.cjs'],
    ],
    // Signatures are verified without a store, and without the key types.
    ['verify data.txt --public-key signer.pub -q', ['coffer-files.cjs']],
  ])('are loaded only as far as needed by %s', (line, parts) => {
    expect(() => run(['executable/coffer.cjs', ...parts], ...words(line))).not.toThrow();
  });
});
