import { execFileSync, spawnSync } from 'node:child_process';
import { copyFileSync } from 'node:fs';
import { keepRelro } from './relro.ts';

/** What Debian and GNU call a processor in the names of their tools, by what Node calls it. */
const GNU_NAMES: Readonly<Record<string, string>> = { x64: 'x86_64', arm64: 'aarch64' };

/**
 * Beside names for debuggers (17 MiB), the tables by which C++ finds who catches an exception (5 MiB). Node is compiled without exceptions: what
 * its libraries throw ends the process, with the tables and without.
 * @see docs/decisions/0221
 */
const UNWINDING = ['.eh_frame', '.eh_frame_hdr', '.gcc_except_table'].flatMap((name) => ['-R', name]);

const runs = (program: string): boolean => spawnSync(program, ['--version']).status === 0;

/** The program of binutils that strips files for Linux on a processor, if it is on this machine. */
export function stripperFor(arch: string): string | undefined {
  const names = [`${GNU_NAMES[arch]}-linux-gnu-strip`, ...(arch === process.arch ? ['strip'] : [])];
  return process.platform === 'linux' ? names.find(runs) : undefined;
}

/**
 * Copies a Node binary for Linux without what it does not need to run.
 *
 * It must be done before anything is put into it: a stripper drops what postject adds, or leaves Node unable to find it.
 */
export function strip(stripper: string, node: string, output: string): void {
  copyFileSync(node, output);
  execFileSync(stripper, [...UNWINDING, output], { stdio: 'inherit' });
  keepRelro(node, output);
}
