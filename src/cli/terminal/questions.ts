import { openSync } from 'node:fs';
// Only these three are bundled: the package as a whole is half of it.
import { confirm, input, password } from '@inquirer/prompts';
import { Interrupted } from './streams.ts';

/** The library puts a green check mark before every answer, also before a wrong passphrase and before "No". */
const theme = { prefix: '?' };

/**
 * Asks for a secret, which is not shown.
 * @param device source of the answer; standard input by default
 */
export const askSecret = (message: string, device: string | undefined): Promise<string> =>
  ask(device, (context) => password({ message, mask: false, theme }, context));

/** Asks for a text, as `askSecret`. It is shown. */
export const askText = (message: string, device: string | undefined): Promise<string> =>
  ask(device, (context) => input({ message, theme }, context));

export interface ConfirmOptions {
  /** Aborted when the answer is no longer needed, which is a no. */
  readonly ended?: AbortSignal | undefined;
  /** Whether Enter alone means yes; otherwise it means no. */
  readonly isYesByDefault?: boolean;
}

/** Asks a yes-or-no question. */
export const askWhether = (
  message: string,
  device: string | undefined,
  { ended, isYesByDefault = false }: ConfirmOptions = {},
): Promise<boolean> =>
  ask(device, (context) =>
    confirm(
      { message, default: isYesByDefault, theme },
      ended === undefined ? context : { ...context, signal: ended },
    ).catch((error: unknown) => {
      if (ended?.aborted) return false;
      throw error;
    }),
  );

async function ask<T>(
  path: string | undefined,
  question: (context: { input: NodeJS.ReadableStream; output: NodeJS.WritableStream }) => Promise<T>,
): Promise<T> {
  const device = path === undefined ? undefined : openDevice(path);
  try {
    return await question({ input: device ?? process.stdin, output: process.stderr });
  } catch (error) {
    // The library reports Ctrl-C only by the name of its error.
    if (error instanceof Error && error.name === 'ExitPromptError') throw new Interrupted();
    throw error;
  } finally {
    device?.destroy();
  }
}

function openDevice(path: string): NodeJS.ReadableStream & { destroy(): unknown } {
  const { ReadStream } = process.getBuiltinModule('node:tty');
  return new ReadStream(openSync(path, 'r+'));
}
