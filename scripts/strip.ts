import { execFileSync, spawnSync } from 'node:child_process';
import { copyFileSync } from 'node:fs';
import { keepRelro } from './relro.ts';

/** Names of processors in the tools of Debian and GNU, by those of Node. */
const GNU_NAMES: Readonly<Record<string, string>> = { x64: 'x86_64', arm64: 'aarch64' };

/**
 * Sections removed in addition to debug symbols (17 MiB): the exception tables of C++ (5 MiB). Node is compiled without
 * exceptions: an exception of its libraries ends the process, with or without the tables.
 * @see docs/decisions/0221
 */
const UNWINDING = ['.eh_frame', '.eh_frame_hdr', '.gcc_except_table'].flatMap((name) => ['-R', name]);

const runs = (program: string): boolean => spawnSync(program, ['--version']).status === 0;

/** Returns the strip program of binutils for Linux files of a processor, if it is installed. */
export function stripperFor(arch: string): string | undefined {
  const names = [`${GNU_NAMES[arch]}-linux-gnu-strip`, ...(arch === process.arch ? ['strip'] : [])];
  return process.platform === 'linux' ? names.find(runs) : undefined;
}

/**
 * Copies a Node binary for Linux without unnecessary parts.
 *
 * This must be done before anything is injected: stripping removes what postject adds, or leaves Node unable to find
 * it.
 */
export function strip(stripper: string, node: string, output: string): void {
  copyFileSync(node, output);
  execFileSync(stripper, [...UNWINDING, output], { stdio: 'inherit' });
  keepRelro(node, output);
}
