import { wipe } from '../../ground/bytes.ts';
import { variable } from '../given.ts';
import type { Session } from '../session.ts';
import { FAMILY_TOKEN, withoutOwnSecrets } from './secret-variables.ts';

/** Returns the askpass program that the environment names. */
export const askpassOf = ({ environment }: Session): string | undefined =>
  variable(environment, 'COFFER_ASKPASS') ?? variable(environment, 'SSH_ASKPASS');

/** Returns the environment of that program, without secrets: it shows a window, and may be any program. */
export function askpassVariables({ environment }: Session): Readonly<Record<string, string>> {
  const { [FAMILY_TOKEN]: _, SSH_ASKPASS_PROMPT: __, ...others } = withoutOwnSecrets(environment);
  return others;
}

/** Time within which a question must be answered, in milliseconds. No answer is a refusal. */
export const ANSWER_WITHIN_MS = 120_000;
/** Maximum length of an answer, in bytes: longer than any passphrase. */
const MOST_BYTES = 64 * 1024;

/**
 * Returns the output of the program without the newline at its end, as ssh reads it; undefined if it fails, prints
 * nothing or takes too long.
 */
export async function answerByProgram(
  program: string,
  question: string,
  env: Readonly<Record<string, string>>,
): Promise<Buffer | undefined> {
  const { spawn } = process.getBuiltinModule('node:child_process');
  const child = spawn(program, [question], {
    env,
    stdio: ['ignore', 'pipe', 'ignore'],
    signal: AbortSignal.timeout(ANSWER_WITHIN_MS),
  });
  const parts: Buffer[] = [];
  let length = 0;
  child.stdout.on('data', (part: Buffer) => {
    parts.push(part);
    length += part.length;
    if (length > MOST_BYTES) child.kill();
  });
  const { promise, resolve } = Promise.withResolvers<number | null>();
  child.once('error', () => resolve(null));
  child.once('close', resolve);
  const code = await promise;
  const whole = Buffer.concat(parts);
  for (const part of parts) wipe(part);
  const end = whole.indexOf(0x0a);
  const line = Buffer.from(end === -1 ? whole : whole.subarray(0, end));
  wipe(whole);
  if (code === 0 && line.length > 0 && length <= MOST_BYTES) return line;
  wipe(line);
  return undefined;
}

/**
 * Asks for confirmation through the program. Exit code 0 is a yes; a variable tells the program to ask for a yes or no
 * rather than for text.
 * @param env environment of the program
 */
export function confirmByProgram(
  program: string,
  question: string,
  env: Readonly<Record<string, string>>,
  signal: AbortSignal = AbortSignal.timeout(ANSWER_WITHIN_MS),
): Promise<boolean> {
  const { spawn } = process.getBuiltinModule('node:child_process');
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const child = spawn(program, [question], {
    env: { ...env, SSH_ASKPASS_PROMPT: 'confirm' },
    stdio: 'ignore',
    signal,
  });
  child.once('error', () => resolve(false));
  child.once('exit', (code) => resolve(code === 0));
  return promise;
}
