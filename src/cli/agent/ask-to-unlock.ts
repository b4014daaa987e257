import type { AskToUnlock } from '../../doors/agent/unlock-question.ts';
import { wipe } from '../../ground/bytes.ts';
import type { UnlockTimes } from '../../service/agent/calls.ts';
import { handOver } from '../../store/handed-over.ts';
import { openWith } from '../secrets/unlock.ts';
import type { Session } from '../session.ts';
import { ANSWER_WITHIN_MS, askpassOf, askpassVariables } from './ask.ts';

/** Number of wrong answers accepted before the request fails. */
const ATTEMPTS = 3;
/** Maximum length of an answer, in bytes: longer than any passphrase. */
const MOST_BYTES = 64 * 1024;

/**
 * Returns the function with which a locked agent asks for the passphrase: the askpass program of the session. It does
 * not ask on a terminal, where a question would appear between the agent's log lines.
 * @param times times for which the store is then unlocked
 * @returns the function; undefined without an askpass program
 */
export function askToUnlockOf(session: Session, times: UnlockTimes): AskToUnlock | undefined {
  const program = askpassOf(session);
  if (program === undefined) return undefined;
  return async (door) => {
    let wrong = 0;
    const question = `A program wants to use a key (${door}). Passphrase for the Coffer store:`;
    const store = await openWith(session, [
      {
        source: 'the passphrase',
        kind: 'passphrase',
        asks: true,
        reveal: () => answerOf(program, session, wrong === 0 ? question : `Wrong passphrase. ${question}`),
        again: () => ++wrong < ATTEMPTS,
      },
    ]);
    try {
      return { handed: await handOver(store), ...times };
    } finally {
      store.close();
    }
  };
}

/**
 * Returns the output of the program without the newline at its end, as ssh reads it; undefined if it fails, prints
 * nothing or takes too long.
 */
async function answerOf(program: string, session: Session, question: string): Promise<Buffer | undefined> {
  const { spawn } = process.getBuiltinModule('node:child_process');
  const child = spawn(program, [question], {
    env: askpassVariables(session),
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
