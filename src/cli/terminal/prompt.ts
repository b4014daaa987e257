import { closeSync, openSync, readFileSync } from 'node:fs';
import { invalid } from '../../ground/errors.ts';
import type { Streams } from './streams.ts';
import { visible } from './visible.ts';

/** Questions to the person at the terminal. */
export interface Prompts {
  /** Whether there is a person to ask. */
  available(): boolean;
  /** A secret, not shown while it is typed. */
  secret(question: string): Promise<string>;
  /** A new secret, asked for until two answers agree. @param made one for who just presses Enter; it is shown. */
  newSecret(question: string, made?: () => Promise<string>): Promise<string>;
  /** @param ended when nobody waits for the answer any more, which is a no then. */
  confirm(question: string, ended?: AbortSignal): Promise<boolean>;
}

const TERMINAL_DEVICE = '/dev/tty';

/**
 * Prompts on the terminal. When standard input carries data, the answers come from the terminal device itself;
 * standard output is never written to, because the result goes there. Questions may name what somebody else has written.
 * Where standard error is no terminal, or the command runs in the background of one, nothing is asked and the command fails.
 */
export function terminalPrompts(streams: Streams): Prompts {
  const available = (): boolean =>
    streams.err.isTerminal && (streams.in.isTerminal || hasTerminalDevice()) && !isInBackground();
  const device = (): string | undefined => (streams.in.isTerminal ? undefined : TERMINAL_DEVICE);
  return {
    available,
    async secret(message) {
      const { askSecret } = await import('./questions.ts');
      return askSecret(visible(message), device());
    },
    async newSecret(message, made) {
      const question = made === undefined ? message : `${message} (Enter makes one of words)`;
      for (;;) {
        const first = await this.secret(question);
        if (first === '' && made !== undefined) {
          const secret = await made();
          streams.err.write(`It is shown this once, so write it down:\n\n    ${secret}\n\n`);
          return secret;
        }
        if (first === '') throw invalid('an empty passphrase protects nothing', { field: 'passphrase' });
        if ((await this.secret('Once more')) === first) return first;
        streams.err.write('The two are not the same; again.\n');
      }
    },
    async confirm(message, ended) {
      const { askWhether } = await import('./questions.ts');
      return askWhether(visible(message), device(), ended);
    },
  };
}

/** Of `/proc/self/stat`, counted from the state: the group of this process, and the one that the terminal listens to. */
const OWN_GROUP = 2;
const FOREGROUND_GROUP = 5;

/**
 * Whether the shell has put us into the background, as `coffer serve &` does: the terminal would stop whoever reads from it. Only
 * Linux lets a process see that.
 */
export function isInBackground(): boolean {
  if (process.platform !== 'linux') return false;
  try {
    const stat = readFileSync('/proc/self/stat', 'latin1');
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return Number(fields[FOREGROUND_GROUP]) > 0 && fields[OWN_GROUP] !== fields[FOREGROUND_GROUP];
  } catch {
    return false;
  }
}

function hasTerminalDevice(): boolean {
  if (process.platform === 'win32') return false;
  try {
    closeSync(openSync(TERMINAL_DEVICE, 'r+'));
    return true;
  } catch {
    return false;
  }
}
