import { commandOf } from '../../src/cli/operation-command.ts';
import { parseQuickly } from '../../src/cli/parse/fast-path.ts';
import { Session } from '../../src/cli/session.ts';
import { reportError } from '../../src/cli/terminal/report.ts';
import { type Operation, operation } from '../../src/operations/declaration/operation.ts';
import {
  base64,
  batch,
  choice,
  flag,
  integer,
  text,
  textMap,
  texts,
} from '../../src/operations/declaration/params.ts';
import { keyName } from '../../src/operations/transit/parameters.ts';
import { promptsDouble, type StreamsSetup, streamsDouble } from './streams.double.ts';

/** Has one of everything that a declaration can say about its command line. */
export const stamp = operation({
  route: 'POST stamp/:name',
  capability: 'update',
  computes: true,
  params: {
    name: keyName({ help: 'The key.', required: true, cli: { positional: true } }),
    input: base64({ help: 'What to stamp.' }),
    context: base64({ help: 'The context.', cli: { textTwin: true } }),
    version: integer({ help: 'The version.', minimum: 0, cli: {} }),
    kind: choice(['wax', 'ink'], { help: 'The kind.', default: 'wax' }),
    deep: flag({ help: 'Deeply.', cli: { negatable: true } }),
    colours: texts({ help: 'Colours.', cli: { flag: 'colour' } }),
    notes: textMap({ help: 'Notes.', cli: { flag: 'note' } }),
    place: text({ help: 'The place.', cli: { environment: 'STAMP_PLACE' } }),
    secret_word: text({ help: 'Never shown.', cli: { hidden: true } }),
    batch_input: batch({ input: base64({ help: 'What to stamp.' }) }, { help: 'Many.' }),
  },
  cli: {
    input: { param: 'input', as: 'bytes' },
    result: { member: 'stamped', as: 'base64' },
  },
  run: async () => ({}),
});

export interface Setup extends StreamsSetup {
  readonly operation?: Operation;
  readonly environment?: Record<string, string>;
  readonly answers?: readonly (string | boolean)[];
  /** What the operation answers. */
  readonly data?: unknown;
  readonly answersNothing?: true;
  readonly fails?: Error;
}

/** Runs one command line of an operation in this process, against a runner that notes what it is given. */
export async function run(argv: readonly string[], setup: Setup = {}) {
  const streams = streamsDouble(setup);
  const calls: Record<string, unknown>[] = [];
  const prompts = promptsDouble(setup.answers, setup.answers !== undefined);
  const leaf = {
    summary: 'Stamp',
    load: async () => commandOf(['stamp'], 'Stamp', setup.operation ?? stamp),
  };
  const tree = { summary: '', children: { stamp: leaf } };
  const environment = setup.environment ?? {};
  const runner = {
    async run(_: Operation, raw: Readonly<Record<string, unknown>>) {
      calls.push({ ...raw });
      if (setup.fails !== undefined) throw setup.fails;
      if (setup.answersNothing) return {};
      return { data: setup.data ?? { stamped: Buffer.from('done').toString('base64') } };
    },
    at: () => Promise.reject(new Error('not asked for')),
    close: () => {},
  };
  let invocation: Awaited<ReturnType<typeof parseQuickly>>;
  let exitCode: number;
  try {
    invocation = await parseQuickly(['stamp', ...argv], tree);
    if (invocation === undefined) throw new Error(`not an ordinary command line: ${argv.join(' ')}`);
    const session = new Session(streams, environment, invocation.everywhere, prompts, async () => runner);
    exitCode = await invocation.command.run(session, invocation.given);
  } catch (error) {
    exitCode = reportError(error, streams, environment, invocation);
  }
  const { out, err, outBytes } = streams.written;
  return { exitCode, out, err, outBytes, calls, call: calls[0], asked: prompts.asked };
}
