import { Duplex } from 'node:stream';
import { asCofferError, unavailable } from '../../ground/errors.ts';
import { inTime } from '../../ground/pause.ts';
import { Conversation } from '../../transit/envelope/age/conversation.ts';
import {
  BROKEN_OFF,
  brokenOff,
  failed,
  type PluginHost,
  type PluginQuestions,
} from '../../transit/envelope/age/plugin.ts';
import { findInstalled } from '../files/program.ts';
import type { Environment } from '../given.ts';
import type { Session } from '../session.ts';
import { answerByProgram, askpassOf, askpassVariables, confirmByProgram } from './askpass.ts';
import { FAMILY_TOKEN, withoutOwnSecrets } from './secret-variables.ts';

/** Maximum silence of a plugin, in milliseconds: enough to find a device and to touch it. */
const SILENCE_MS = 120_000;
/** Time in which a plugin may exit by itself, in milliseconds, before it is killed. */
const ENDING_MS = 1000;
const STDERR_CHARACTERS = 500;

/**
 * Runs plugins of age: programs `age-plugin-NAME` on the PATH. They get the environment without Coffer's own secrets,
 * and their questions are asked on the terminal, or by the askpass program.
 * @param silenceMs less than usual only in tests
 * @see docs/decisions/0311
 */
export const pluginHost = (session: Session, silenceMs = SILENCE_MS): PluginHost => ({
  async run(name, machine, talk) {
    const program = programOf(name, session.environment);
    const { spawn } = process.getBuiltinModule('node:child_process');
    const { [FAMILY_TOKEN]: _, ...env } = withoutOwnSecrets(session.environment);
    const child = spawn(program, [`--age-plugin=${machine}`], { env, stdio: 'pipe' });
    const kill = (): void => void child.kill('SIGKILL');
    process.once('exit', kill);
    const { promise: trouble, reject } = Promise.withResolvers<never>();
    const watch = silenceWatch(silenceMs, () => {
      reject(silent(name, silenceMs));
      kill();
    });
    let said = '';
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      if (said.length < STDERR_CHARACTERS) said += text;
    });
    child.stdout.on('data', watch.heard);
    child.once('error', (error) => reject(unavailable(`cannot run ${program}`, { cause: error })));
    // Writing fails once the plugin has exited; the conversation reports that, and its messages until then.
    child.stdin.on('error', () => undefined);
    const { promise: ended, resolve: end } = Promise.withResolvers<void>();
    child.once('close', () => end()).once('error', () => end());
    try {
      const connection = Duplex.from({ readable: child.stdout, writable: child.stdin });
      connection.on('error', () => undefined);
      const questions = watch.paused(questionsOf(session, name));
      return await Promise.race([talk(new Conversation(connection), questions), trouble]);
    } catch (caught) {
      child.kill();
      await endedOr(kill, ended);
      // The exit of a plugin may be noticed first by a failed write to it.
      const error = isGone(caught) ? brokenOff(name) : caught;
      const isSaid = said.trim() !== '' && asCofferError(error)?.message.endsWith(BROKEN_OFF) === true;
      throw isSaid ? failed(name, said.slice(0, STDERR_CHARACTERS)) : error;
    } finally {
      watch.end();
      child.stdin.destroy();
      await endedOr(kill, ended);
      process.off('exit', kill);
    }
  },
});

const isGone = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && (error.code === 'EPIPE' || error.code === 'ECONNRESET');

/**
 * Waits until a plugin has exited and its output was read: it may have to release its device. It is killed if that
 * takes too long.
 */
const endedOr = (kill: () => void, ended: Promise<void>): Promise<void> => inTime(ended, ENDING_MS, kill);

/** Calls `late` if the plugin sends nothing for this time; prompting the user does not count. */
function silenceWatch(milliseconds: number, late: () => void) {
  let timer: NodeJS.Timeout | undefined;
  const heard = (): void => {
    clearTimeout(timer);
    timer = setTimeout(late, milliseconds);
  };
  const waiting = async <T>(answer: Promise<T>): Promise<T> => {
    clearTimeout(timer);
    try {
      return await answer;
    } finally {
      heard();
    }
  };
  heard();
  return {
    heard,
    end: (): void => clearTimeout(timer),
    paused: (questions: PluginQuestions): PluginQuestions => ({
      message: questions.message,
      confirm: (...asked) => waiting(questions.confirm(...asked)),
      ask: (text) => waiting(questions.ask(text)),
    }),
  };
}

/**
 * Finds a plugin.
 * @throws `unavailable`
 */
function programOf(name: string, environment: Environment): string {
  const file = `age-plugin-${name}${process.platform === 'win32' ? '.exe' : ''}`;
  const found = findInstalled(file, environment);
  if (found !== undefined) return found;
  throw unavailable(`${file} is not installed`, {
    hint: 'install this plugin of age in a directory of your PATH',
  });
}

const silent = (name: string, milliseconds: number) =>
  unavailable(`age-plugin-${name} did not respond within ${Math.ceil(milliseconds / 1000)}s and was killed`, {
    hint: 'check the device or service that the plugin uses, and try again',
  });

function questionsOf(session: Session, name: string): PluginQuestions {
  const { prompts } = session;
  const program = prompts.available() || !session.settings.mayAsk ? undefined : askpassOf(session);
  const question = (text: string): string => `${name}: ${text}`;
  return {
    message: (text) => session.say(question(text)),
    async confirm(text, yes, no) {
      const choice = no === undefined ? yes : `${yes} (y) or ${no} (n)`;
      const asked = question(`${text} [${choice}]`);
      if (prompts.available()) return prompts.confirm(asked);
      if (program === undefined) return undefined;
      return confirmByProgram(program, asked, askpassVariables(session));
    },
    async ask(text) {
      if (prompts.available()) return prompts.secret(question(text));
      if (program === undefined) return undefined;
      return (await answerByProgram(program, question(text), askpassVariables(session)))?.toString('utf8');
    },
  };
}
