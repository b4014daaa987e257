/** The programs of PostgreSQL on this machine, and whom they run as. */
import { execFile, execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

const BINARIES = '/usr/lib/postgresql/15/bin';
export const isRoot = process.getuid?.() === 0;

/** Looks again once it is its turn: somebody else may have installed it meanwhile. */
const INSTALL = `test -x "$1" || { apt-get update -qq && apt-get install -y -qq --no-install-recommends "$2"; }`;

/**
 * Why a program of Debian's can't be used here; undefined when it can. Installs its package where that is possible and needed, by one
 * process at a time.
 */
export function whyNot(title: string, program: string, packageName: string): string | undefined {
  if (existsSync(program)) return undefined;
  if (!isRoot) return `${title} is not installed, and only root can install it`;
  try {
    const lock = join(tmpdir(), 'coffer-test-install.lock');
    execFileSync('flock', [lock, 'sh', '-c', INSTALL, 'sh', program, packageName], {
      stdio: 'ignore',
      env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
    });
    return undefined;
  } catch {
    return `${title} could not be installed`;
  }
}

/** Why there can be no database here; undefined when there can. */
export const whyNoDatabase = (): string | undefined =>
  whyNot('PostgreSQL 15', programPath('postgres'), 'postgresql-15');

/** PostgreSQL refuses to run as root. */
export const owner = isRoot ? ownerIds() : undefined;

function ownerIds(): { readonly uid: number; readonly gid: number } {
  const id = (flag: string): number => Number(execFileSync('id', [flag, 'nobody'], { encoding: 'utf8' }));
  return { uid: id('-u'), gid: id('-g') };
}

export const asOwner = {
  ...owner,
  cwd: '/',
  env: { PATH: process.env['PATH'], LC_ALL: 'C.UTF-8', HOME: '/tmp' },
};

export function programPath(program: string): string {
  return join(BINARIES, program);
}

/** What it prints. @throws when it fails. */
export async function runProgram(program: string, ...parameters: string[]): Promise<string> {
  const { stdout } = await promisify(execFile)(programPath(program), parameters, {
    ...asOwner,
    encoding: 'utf8',
    maxBuffer: 2 ** 28,
  });
  return stdout;
}
