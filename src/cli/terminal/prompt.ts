import { closeSync, openSync, readFileSync } from 'node:fs';
import { attempt, invalid } from '../../ground/errors.ts';
import { displayWidth, wrappedMessage } from '../wrap.ts';
import type { ConfirmOptions } from './questions.ts';
import type { Streams } from './streams.ts';
import { visible } from './visible.ts';

/** Prompts for the user at the terminal. */
export interface Prompts {
  /** Whether a user can be asked. */
  available(): boolean;
  /** Asks for a text, which is shown as it is typed. */
  text(question: string): Promise<string>;
  /** Asks for a secret, which is not echoed. */
  secret(question: string): Promise<string>;
  /**
   * Asks for a new secret until two answers agree.
   * @param made generates one if the user just presses Enter; it is shown
   */
  newSecret(question: string, made?: () => Promise<string>): Promise<string>;
  /** Asks for confirmation. */
  confirm(question: string, options?: ConfirmOptions): Promise<boolean>;
}

const TERMINAL_DEVICE = '/dev/tty';

/**
 * Returns prompts on the terminal. If standard input is redirected, answers are read from the terminal device. Nothing
 * is written to standard output, which is for the result. Questions may contain untrusted text. If standard error is
 * not a terminal, or the command runs in its background, nothing is asked and the command fails.
 */
export function terminalPrompts(streams: Streams): Prompts {
  const available = (): boolean =>
    streams.err.isTerminal && (streams.in.isTerminal || hasTerminalDevice()) && !isInBackground();
  const device = (): string | undefined => (streams.in.isTerminal ? undefined : TERMINAL_DEVICE);
  return {
    available,
    async text(message) {
      const { askText } = await import('./questions.ts');
      return askText(visible(message), device());
    },
    async secret(message) {
      const { askSecret } = await import('./questions.ts');
      return askSecret(secretOnLines(message, streams), device());
    },
    async newSecret(message, made) {
      const question = made === undefined ? message : `${message} (press Enter to generate one)`;
      for (;;) {
        const first = await this.secret(question);
        if (first === '' && made !== undefined) {
          const secret = await made();
          streams.err.write(`Write this passphrase down; it is not shown again:\n\n    ${secret}\n\n`);
          return secret;
        }
        if (first === '') throw invalid('the passphrase must not be empty', { field: 'passphrase' });
        if ((await this.secret('Once more')) === first) return first;
        streams.err.write('Passphrases do not match, try again.\n');
      }
    },
    async confirm(message, options) {
      const { askWhether } = await import('./questions.ts');
      return askWhether(onLines(message, streams), device(), options);
    },
  };
}

/** Cells that the program adds to a question: a mark before it, and the possible answers after it. */
const MARK = '? ';
const AROUND_QUESTION = MARK.length + ' (y/N) '.length;

/** Breaks a question at its spaces; the library would break words. */
const onLines = (question: string, { err }: Streams): string =>
  wrappedMessage(visible(question), columnsOf(err) - AROUND_QUESTION);
const LEAST_COLUMNS = 40;
const columnsOf = (err: Streams['err']): number => Math.max(err.columns, LEAST_COLUMNS);

/** Text that the library puts behind a question for a secret, as long as it is not answered. */
const MASKED = ' [input is masked]';

/** Breaks a question for a secret as others, but so that there is room for what the library puts behind it. */
function secretOnLines(question: string, streams: Streams): string {
  const columns = columnsOf(streams.err);
  // At the end of the last column, the library would begin another line.
  const isFitting = (text: string): boolean =>
    displayWidth(`${MARK}${text}${MASKED}`.split('\n').at(-1) ?? '') < columns;
  const usual = onLines(question, streams);
  if (isFitting(usual)) return usual;
  const narrower = wrappedMessage(visible(question), columns - MARK.length - MASKED.length - 1);
  // A word may be too long for that, such as the name of a file.
  return isFitting(narrower) ? narrower : `${usual}\n`;
}

/** Returns the process group of this process, and the foreground group of its terminal. Only Linux provides that. */
export function ownGroups(): readonly [own: string | undefined, foreground: string | undefined] {
  const stat = readFileSync('/proc/self/stat', 'latin1');
  const [, , own, , , foreground] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return [own, foreground];
}

/**
 * Whether the process runs in the background, as in `coffer serve &`: the terminal would stop it when it reads.
 */
export function isInBackground(): boolean {
  if (process.platform !== 'linux') return false;
  const [own, foreground] = attempt(ownGroups) ?? [];
  return Number(foreground) > 0 && own !== foreground;
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
