import { spawnSync } from 'node:child_process';
import { chmodSync, chownSync, readdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, inject, it } from 'vitest';
import type { Observation } from './conditions/report.ts';
import { Tally } from './tally.ts';
import { usualTemplate } from './template.ts';

const template = usualTemplate();
const isRoot = process.geteuid?.() === 0;
/** Somebody without rights: `nobody` wherever there is one. */
const NOBODY = 65_534;
const OWN_MOUNTS = ['unshare', '--user', '--map-root-user', '--mount'];

/** Whether a process may have mounts of its own here; containers often forbid it. */
function mayMount(): boolean {
  const directory = template().root;
  const probe = `mount -t tmpfs tmpfs ${directory} && mount -o remount,bind,ro ${directory}`;
  return (
    spawnSync(OWN_MOUNTS[0] ?? '', [...OWN_MOUNTS.slice(1), 'sh', '-c', probe], { stdio: 'ignore' })
      .status === 0
  );
}

async function runUnder(
  condition: string,
  { wrapper = [], user }: { readonly wrapper?: readonly string[]; readonly user?: number } = {},
): Promise<void> {
  const box = template().copy();
  if (user !== undefined) giveTo(box.root, user);
  const [program = '', ...words] = [...wrapper, process.execPath, inject('conditions'), condition, box.root];
  const { stdout, stderr, status } = spawnSync(program, words, {
    encoding: 'utf8',
    maxBuffer: 64 * 2 ** 20,
    cwd: '/',
    env: { ...process.env, NODE_COMPILE_CACHE: `${inject('command')}.cache` },
    ...(user === undefined ? {} : { uid: user, gid: user }),
  });
  const tally = new Tally();
  for (const line of stdout.split('\n').filter((text) => text !== '')) {
    const { what, problem } = JSON.parse(line) as Observation;
    await tally.after(what, () => {
      if (problem !== undefined) throw new Error(problem);
    });
  }
  box.remove();
  rmSync(`${box.root}.disk`, { recursive: true, force: true });
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  tally.settle();
}

function giveTo(path: string, user: number): void {
  chownSync(path, user, user);
  if (!statSync(path).isDirectory()) return;
  for (const name of readdirSync(path)) giveTo(join(path, name), user);
}

describe('a disk that is full', () => {
  it('refuses what does not fit, keeps what was there, and takes the same command once there is room', async ({
    skip,
  }) => {
    if (!mayMount())
      return skip('no mounts allowed here; the next test and the injected ENOSPC stand in for it');
    await runUnder('full-disk', { wrapper: OWN_MOUNTS });
  });
});

describe('a disk that becomes read-only', () => {
  it('lets everybody read, and refuses to write with the reason', async ({ skip }) => {
    if (!mayMount())
      return skip('no mounts allowed here; lost permissions and the injected EROFS stand in for it');
    await runUnder('read-only', { wrapper: OWN_MOUNTS });
  });
});

describe('a disk that fails in the midst of a commit, and is read-only from then on', () => {
  it('lets everybody read what was before the commit, or all of it', async ({ skip }) => {
    if (!mayMount()) return skip('no mounts allowed here');
    await runUnder('read-only-and-dirty', { wrapper: OWN_MOUNTS });
  });
});

describe('a file or directory whose permissions are lost', () => {
  it('is named in a refusal or not needed, and nothing is half done', async ({ skip }) => {
    if (!isRoot) return runUnder('permissions');
    chmodSync(join(inject('conditions'), '..'), 0o755);
    const probe = spawnSync(process.execPath, ['-e', ''], { uid: NOBODY, gid: NOBODY, cwd: '/' });
    if (probe.status !== 0) return skip('another user cannot run this Node');
    await runUnder('permissions', { user: NOBODY });
  });
});
