import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it, onTestFinished } from 'vitest';
import { builtCommand } from './built.ts';
import { typeErrorsIn } from './package-types.ts';

const root = fileURLToPath(new URL('..', import.meta.url));

it("the package's declarations compile with those of Node", () => {
  builtCommand();
  const directory = mkdtempSync(join(tmpdir(), 'coffer-types-'));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  mkdirSync(join(directory, 'node_modules'));
  symlinkSync(root, join(directory, 'node_modules/coffer'));
  const file = join(directory, 'program.mts');
  writeFileSync(file, "import { open } from 'coffer';\nexport const store = await open({ directory: 7 });\n");
  // A program that is wrong is told, so that silence says something.
  expect(typeErrorsIn(file).match(/^program.mts/gm)).toHaveLength(1);
  writeFileSync(file, "export * from 'coffer';\n");
  expect(typeErrorsIn(file)).toBe('');
});
