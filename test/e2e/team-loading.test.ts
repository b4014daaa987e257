import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { agentsOf, kill } from './agent-target.ts';
import type { Place } from './harness.ts';
import { team } from './team-people.ts';

const EXEC = ['exec', '-q', '-f', 'app.env', '--', 'printenv', 'DB'];

/** A command that writes down which files and modules of Node's it loads. */
async function loadingTeam() {
  const { people, alice } = await team();
  const [hook, log] = [join(alice.home, 'hook.cjs'), join(alice.home, 'log')];
  writeFileSync(
    hook,
    `const { Module } = require('node:module');
const { appendFileSync } = require('node:fs');
const note = (name) => appendFileSync(${JSON.stringify(log)}, name + '\\n');
const load = Module._load;
Module._load = (name, ...others) => { note(name); return load(name, ...others); };\n`,
  );
  const run = join(people.directory, 'run');
  mkdirSync(run, { mode: 0o700 });
  const place = alice.place.with({ XDG_RUNTIME_DIR: run });
  /** Runs \`exec\` twice: rules that were not used before are read and compared first. @returns what it loads then */
  const loaded = async (): Promise<ReadonlySet<string>> => {
    const spawned = place.with({ NODE_OPTIONS: `--require ${hook}` }).spawned;
    await spawned.run(EXEC);
    rmSync(log);
    expect((await spawned.run(EXEC)).stdout).toBe('s3cret\n');
    return new Set(
      readFileSync(log, 'utf8')
        .split('\n')
        .map((name) => basename(name))
        .filter((name) => /^coffer.*\.cjs$|crypto$/.test(name)),
    );
  };
  onTestFinished(() => {
    for (const { pid } of agentsOf({ directory: people.directory } as Place)) kill(pid, 'SIGKILL');
  });
  return { place, loaded };
}

it('a program is started with the values of a keyring by loading its own part of the command, and not all the rest', async () => {
  const { loaded } = await loadingTeam();
  expect(await loaded()).toEqual(
    new Set(['coffer.cjs', 'coffer-keyring.cjs', 'coffer-files.cjs', 'coffer-ed25519.cjs', 'node:crypto']),
  );
});

it('a program is started with the values of a keyring through its agent by loading the first part of the command only, and no cryptography', async () => {
  const { place, loaded } = await loadingTeam();
  await place.ok('team unlock -q');
  expect(await loaded()).toEqual(new Set(['coffer.cjs']));
  await place.ok('lock');
});
