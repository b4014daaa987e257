import { closeSync, openSync, readFileSync, readSync, writeSync } from 'node:fs';
import { wipe } from '../../ground/bytes.ts';

/** Of `/proc/self/stat`, counted from the state, which follows the name in parentheses: where the environment begins and ends. */
const ENVIRONMENT_START = 47;
const ENVIRONMENT_END = 48;

/**
 * Takes variables out of the environment of this process: neither its children get them, nor does `/proc/PID/environ` or
 * a core dump show them. For a process that runs on after it has read them.
 *
 * Removing a variable leaves its text where the kernel put it when the process began; only Linux lets a process find that
 * place. Elsewhere, or where it is forbidden, the text stays.
 * @see docs/decisions/0095
 */
export function forgetVariables(environment: NodeJS.ProcessEnv, names: Iterable<string>): void {
  const present = [...names].filter((name) => environment[name] !== undefined);
  for (const name of present) delete environment[name];
  if (present.length === 0 || process.platform !== 'linux') return;
  try {
    overwriteInitial(present);
  } catch {
    // Nothing more can be done, and the server works without.
  }
}

function overwriteInitial(names: readonly string[]): void {
  const stat = readFileSync('/proc/self/stat', 'latin1');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const start = Number(fields[ENVIRONMENT_START]);
  const length = Number(fields[ENVIRONMENT_END]) - start;
  const memory = openSync('/proc/self/mem', 'r+');
  // A zero in front, so that every variable follows one.
  const block = Buffer.alloc(1 + length);
  try {
    readSync(memory, block, 1, length, start);
    for (const name of names) {
      const prefix = `\0${name}=`;
      const at = block.indexOf(prefix, 0, 'latin1');
      if (at === -1) continue;
      const value = at + prefix.length;
      const end = block.indexOf(0, value);
      writeSync(memory, Buffer.alloc(end - value), 0, end - value, start + value - 1);
    }
  } finally {
    wipe(block);
    closeSync(memory);
  }
}
