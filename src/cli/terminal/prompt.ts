import { closeSync, openSync } from 'node:fs';
import { invalid } from '../../ground/errors.ts';
import type { Streams } from './streams.ts';

/** Questions to the person at the terminal. */
export interface Prompts {
  /** Whether there is a person to ask. */
  available(): boolean;
  /** A secret, not shown while it is typed. */
  secret(question: string): Promise<string>;
  /** A new secret, asked for until two answers agree. */
  newSecret(question: string): Promise<string>;
  confirm(question: string): Promise<boolean>;
}

const TERMINAL_DEVICE = '/dev/tty';

/**
 * Prompts on the terminal. When standard input carries data, the answers come from the terminal device itself;
 * standard output is never written to, because the result goes there.
 * @see docs/decisions/0034
 */
export function terminalPrompts(streams: Streams): Prompts {
  const available = (): boolean => streams.err.isTerminal && (streams.in.isTerminal || hasTerminalDevice());
  const device = (): string | undefined => (streams.in.isTerminal ? undefined : TERMINAL_DEVICE);
  return {
    available,
    async secret(message) {
      const { askSecret } = await import('./questions.ts');
      return askSecret(message, device());
    },
    async newSecret(message) {
      for (;;) {
        const first = await this.secret(message);
        if (first === '') throw invalid('an empty passphrase protects nothing', { field: 'passphrase' });
        if ((await this.secret('Once more')) === first) return first;
        streams.err.write('The two are not the same; again.\n');
      }
    },
    async confirm(message) {
      const { askWhether } = await import('./questions.ts');
      return askWhether(message, device());
    },
  };
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
