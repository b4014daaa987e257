import { closeSync, openSync, readFileSync, readSync, writeSync } from 'node:fs';
import { wipe } from '../../ground/bytes.ts';
import { attempt } from '../../ground/errors.ts';

/**
 * Fields of `/proc/self/stat` with the start and end of the environment, counted from the state, which follows the name
 * in parentheses.
 */
const ENVIRONMENT_START = 47;
const ENVIRONMENT_END = 48;

/**
 * Removes variables from the environment of this process, so that neither its children nor `/proc/PID/environ` nor a
 * core dump contain them. For a process that continues to run after it has read them.
 *
 * Deleting a variable leaves its text where the kernel put it at the start of the process; only on Linux can a process
 * find that place. On other systems, or if access is denied, the text remains.
 * @see docs/decisions/0095
 */
export function forgetVariables(environment: NodeJS.ProcessEnv, names: Iterable<string>): void {
  const present = [...names].filter((name) => environment[name] !== undefined);
  for (const name of present) delete environment[name];
  if (present.length === 0 || process.platform !== 'linux') return;

  // Nothing else can be done, and the server works without it.
  attempt(() => overwriteInitial(present));
}

function overwriteInitial(names: readonly string[]): void {
  const stat = readFileSync('/proc/self/stat', 'latin1');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const start = Number(fields[ENVIRONMENT_START]);
  const length = Number(fields[ENVIRONMENT_END]) - start;
  const memory = openSync('/proc/self/mem', 'r+');
  // Begins with a zero byte, so that one precedes every variable.
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
