/** The executable for arm64, by an emulator of the distribution: the README's five minutes, and what of the command's own tests takes minutes there. */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { Distribution } from '../../scripts/release/distribution.ts';
import type { System } from '../../scripts/release/release.ts';
import { type Bench, type Checks, root, wants } from './bench.ts';
import { unpacked } from './executables.ts';
import { useFiveMinutes } from './five-minutes.ts';

const ARM64: System = { platform: 'linux', arch: 'arm64' };
/** What the executable is linked with. */
const LIBRARIES = ['libc6', 'libstdc++6', 'libgcc-s1'];
/**
 * Of the command's own tests those on help, on files with secrets, on what can't be read, and of the suites of commands those on keys, encryption, signing and tags: they start the
 * command some 430 times, which takes two seconds of the processor each. What starts the command anew by itself (a server, an agent) would need the emulator in the kernel.
 */
const TESTS = ['local', 'pipes', 'help', 'secret-files', 'unreadable'].map(
  (name) => `test/e2e/${name}.test.ts`,
);
const LEFT_OUT = [
  ...['many items', 'inputs ', 'signatures for', 'backup, restore', 'certificates and', 'envelopes'],
  ...['secrets in', 'files ', 'many tags', 'mounts, tokens', 'login methods', 'what is there'],
  'pipes and scripts, on a local store (?:envelopes|needs|ends|lets)',
];
/** In milliseconds: some tests run the command twenty times. */
const PATIENCE = ['--testTimeout=900000', '--hookTimeout=900000'];

/** The words that run it. */
async function emulated(bench: Bench): Promise<readonly string[]> {
  await wants(bench, 'qemu-aarch64-static', 'qemu-user-static');
  const libraries = join(bench.directory, 'libraries');
  mkdirSync(libraries);
  for (const file of new Distribution('arm64', bench.directory).download(LIBRARIES)) {
    await bench.run('dpkg', ['-x', file, libraries]);
  }
  return ['/usr/bin/qemu-aarch64-static', '-L', libraries, await unpacked(bench, ARM64)];
}

export const checks: Checks = {
  'the executable for arm64 does the main job under an emulator': async (bench) => {
    const [executable = '', ...emulator] = (await emulated(bench)).toReversed();
    await bench.run('bash', [join(root, '.ci/smoke'), executable, ...emulator.toReversed()]);
  },
  "the README's five minutes: the executable for arm64 under an emulator": async (bench) => {
    const work = join(bench.directory, 'work');
    mkdirSync(work);
    await useFiveMinutes(bench, { command: await emulated(bench), environment: { HOME: work }, work });
  },
  "the command's own tests on the executable for arm64 under an emulator": async (bench) => {
    const command = (await emulated(bench)).join(' ');
    const words = ['run', '--root', root, ...TESTS, '-t', `^(?!${LEFT_OUT.join('|')})`, ...PATIENCE];
    const output = await bench.run(join(root, 'node_modules/.bin/vitest'), words, {
      COFFER_TEST_COMMAND: command,
      NO_COLOR: '1',
    });
    for (const [line] of output.matchAll(/^ *(?:Test Files|Tests) .*$/gm)) console.log(line);
  },
};
