import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { wrapFileSystem } from './functions.ts';
import { install, known } from './layer.ts';

const source = fileURLToPath(new URL('../../../src', import.meta.url));

/** What can't fail, or leads to functions that the layer knows. */
const HARMLESS = new Set(['constants', 'promises']);

/** Names that a file imports from node:fs or node:fs/promises, types left out. */
function importedFrom(path: string): readonly string[] {
  const text = readFileSync(path, 'utf8');
  const imports = text.matchAll(/import \{([^}]*)\} from 'node:fs(?:\/promises)?'/g);
  return [...imports]
    .flatMap(([, names = '']) => names.split(','))
    .map((name) => name.trim())
    .filter((name) => name !== '' && !name.startsWith('type '))
    .map((name) => name.replace(/ as .*$/, ''));
}

it('the layer of faults stands before every function of the file system that the program uses', () => {
  install(wrapFileSystem);
  const used = readdirSync(source, { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.ts'))
    .flatMap((path) => importedFrom(join(source, path)));
  expect(used.length).toBeGreaterThan(50);
  expect(used.filter((name) => !known.has(name) && !HARMLESS.has(name))).toEqual([]);
});

it('the layer of faults is reached by whoever imports node:fs in any way but those that leave no name', () => {
  const odd = readdirSync(source, { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.ts'))
    .filter((path) =>
      /import (?!\{|type)[^;]* from 'node:fs|getBuiltinModule\('node:fs/.test(
        readFileSync(join(source, path), 'utf8'),
      ),
    );
  expect(odd).toEqual([]);
});
