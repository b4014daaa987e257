import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { expect, it } from 'vitest';
import { team } from './team-people.ts';

it('a program is started with the values of a keyring by loading its own part of the command, and not all the rest', async () => {
  const { alice } = await team();
  const [hook, log] = [join(alice.home, 'hook.cjs'), join(alice.home, 'log')];
  writeFileSync(
    hook,
    `const { Module } = require('node:module');
const load = Module._extensions['.js'];
const note = (module, path) => { require('node:fs').appendFileSync(${JSON.stringify(log)}, path + '\\n'); load(module, path); };
Module._extensions['.js'] = note;
Module._extensions['.cjs'] = note;\n`,
  );
  const words = ['exec', '-q', '-f', 'app.env', '--', 'printenv', 'DB'];
  const spawned = alice.place.with({ NODE_OPTIONS: `--require ${hook}` }).spawned;
  // Rules that were not used before are read and compared first.
  await spawned.run(words);
  rmSync(log);
  expect((await spawned.run(words)).stdout).toBe('s3cret\n');
  const parts = readFileSync(log, 'utf8')
    .split('\n')
    .map((path) => basename(path));
  expect(new Set(parts.filter((name) => /^coffer.*\.cjs$/.test(name)))).toEqual(
    new Set(['coffer.cjs', 'coffer-keyring.cjs', 'coffer-files.cjs', 'coffer-ed25519.cjs']),
  );
});
