import type { OptionValue } from '../../src/cli/given.ts';
import { Session } from '../../src/cli/session.ts';
import type { Runner } from '../../src/operations/declaration/operation.ts';
import { promptsDouble, type StreamsDouble, type StreamsSetup, streamsDouble } from './streams.double.ts';

/** What stands for a store or a server: the answer to an operation, by its name. */
type Answer = (name: string, raw: Readonly<Record<string, unknown>>, mount: string | undefined) => unknown;

interface Setup extends StreamsSetup {
  /** What the user answers; without it, nobody can be asked. */
  readonly answers?: readonly (string | boolean)[];
}

interface AnsweredSession {
  readonly session: Session;
  readonly streams: StreamsDouble;
  /** Names of the operations that were asked for. */
  readonly calls: readonly string[];
  /** Questions that the user was asked. */
  readonly asked: readonly string[];
}

/**
 * A session whose operations are answered by a function: `data` of each answer is what it returns, and what it throws is
 * what the operation fails with.
 * @param everywhere options that every command has
 */
export function answeredSession(
  answer: Answer,
  everywhere: Readonly<Record<string, OptionValue>> = {},
  setup: Setup = {},
): AnsweredSession {
  const streams = streamsDouble(setup);
  const calls: string[] = [];
  const runner: Runner = {
    async run(operation, raw, mount) {
      const name = typeof operation === 'string' ? operation : 'an operation';
      calls.push(name);
      return { data: answer(name, raw, mount) };
    },
    at: () => Promise.reject(new Error('not asked for')),
    close: () => undefined,
  };
  const options = new Map(Object.entries(everywhere));
  const environment = { HOME: '/nowhere' };
  const prompts = promptsDouble(setup.answers, setup.answers !== undefined);
  const session = new Session(streams, environment, options, prompts, async () => runner);
  return { session, streams, calls, asked: prompts.asked };
}
