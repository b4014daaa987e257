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

/** The person pressed Ctrl-C at a question. */
export class Interrupted extends Error {}

const TERMINAL_DEVICE = '/dev/tty';

/**
 * Prompts on the terminal. When standard input carries data, the answers come from the terminal device itself;
 * standard output is never written to, because the result goes there.
 */
export function terminalPrompts(streams: Streams): Prompts {
  const available = (): boolean => streams.err.isTerminal && (streams.in.isTerminal || hasTerminalDevice());
  const needsDevice = (): boolean => !streams.in.isTerminal;
  return {
    available,
    secret: (message) =>
      ask(needsDevice(), ({ password }, context) => password({ message, mask: false }, context)),
    async newSecret(message) {
      for (;;) {
        const first = await this.secret(message);
        if (first === '') throw invalid('an empty passphrase protects nothing', { field: 'passphrase' });
        if ((await this.secret('Once more')) === first) return first;
        streams.err.write('The two are not the same; again.\n');
      }
    },
    confirm: (message) =>
      ask(needsDevice(), ({ confirm }, context) => confirm({ message, default: false }, context)),
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

type Questions = typeof import('./questions.ts');
interface PromptContext {
  readonly input: NodeJS.ReadableStream;
  readonly output: NodeJS.WritableStream;
}

async function ask<T>(
  onDevice: boolean,
  question: (questions: Questions, context: PromptContext) => Promise<T>,
): Promise<T> {
  const questions = await import('./questions.ts');
  const device = onDevice ? terminalDevice() : undefined;
  try {
    return await question(questions, {
      input: device ?? process.stdin,
      output: process.stderr,
    });
  } catch (error) {
    // The library tells that Ctrl-C was pressed only by the name of its error.
    if (error instanceof Error && error.name === 'ExitPromptError') throw new Interrupted();
    throw error;
  } finally {
    device?.destroy();
  }
}

function terminalDevice(): NodeJS.ReadableStream & { destroy(): unknown } {
  const { ReadStream } = process.getBuiltinModule('node:tty');
  return new ReadStream(openSync(TERMINAL_DEVICE, 'r+'));
}
