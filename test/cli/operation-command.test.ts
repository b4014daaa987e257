import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { everywhereOptions } from '../../src/cli/everywhere.ts';
import { parseQuickly } from '../../src/cli/fast-path.ts';
import { commandOf } from '../../src/cli/operation-command.ts';
import { reportError } from '../../src/cli/report.ts';
import { Session } from '../../src/cli/session.ts';
import { notFound } from '../../src/errors.ts';
import { type Operation, operation } from '../../src/operations/operation.ts';
import {
  base64,
  batch,
  choice,
  flag,
  integer,
  keyName,
  text,
  textMap,
  texts,
} from '../../src/operations/params.ts';
import { promptsDouble, type StreamsSetup, streamsDouble } from './streams.double.ts';

let directory = '';
const file = (name: string): string => join(directory, name);

beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'coffer-cli-'));
});
afterAll(() => rmSync(directory, { recursive: true, force: true }));

/** Has one of everything that a declaration can say about its command line. */
const stamp = operation({
  api: 'vault',
  route: 'POST stamp/:name',
  capability: 'update',
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

interface Setup extends StreamsSetup {
  readonly operation?: Operation;
  readonly environment?: Record<string, string>;
  readonly answers?: readonly (string | boolean)[];
  /** What the operation answers. */
  readonly data?: unknown;
  readonly answersNothing?: true;
  readonly fails?: Error;
}

/** Runs one command line of an operation in this process, against a runner that notes what it is given. */
async function run(argv: readonly string[], setup: Setup = {}) {
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

const b64 = (value: string): string => Buffer.from(value).toString('base64');

describe('the command of an operation', () => {
  it.each<[string, Partial<Setup>, number]>([
    ['holds', { data: { ok: true } }, 0],
    ['does not hold', { data: { ok: false } }, 5],
    ['is only like one that holds', { data: { ok: 'false' } }, 5],
    ['is missing', { data: {} }, 5],
    ['is missing with all of the answer', { answersNothing: true }, 5],
  ])('exits as its answer holds: one that %s', async (_, answer, exitCode) => {
    const holds = (data: unknown) => (data as { readonly ok?: unknown }).ok === true;
    const checking: Operation = { ...stamp, cli: { holds } };
    expect((await run(['orders'], { ...answer, operation: checking })).exitCode).toBe(exitCode);
  });

  it('sends arguments, flags, lists, pairs, twins and the environment under the names of the API', async () => {
    const { call, exitCode, err } = await run(
      [
        'orders',
        'hello',
        '--context-text',
        'here',
        '--version',
        '2',
        '--kind',
        'ink',
        '--no-deep',
        '--colour',
        'red',
        'blue',
        '--note',
        'a=1',
        'b=x=y',
      ],
      { environment: { STAMP_PLACE: 'Ulm' } },
    );
    expect({ exitCode, err }).toEqual({ exitCode: 0, err: '' });
    expect(call).toEqual({
      name: 'orders',
      input: b64('hello'),
      context: b64('here'),
      version: '2',
      kind: 'ink',
      deep: false,
      colours: ['red', 'blue'],
      notes: { a: '1', b: 'x=y' },
      place: 'Ulm',
    });
  });

  it('sends nothing for what was not given', async () => {
    expect((await run(['orders', ''])).call).toEqual({ name: 'orders', input: '' });
  });

  it.each([
    ['an argument', ['orders', 'héllo'], '', 'héllo'],
    ['standard input, when there is no argument', ['orders'], 'piped\n', 'piped\n'],
    ['standard input, for "-"', ['orders', '-'], '\u0000\n', '\u0000\n'],
    ['nothing at all, which is a value too', ['orders'], '', ''],
  ])('reads its main value from %s', async (_, argv, input, expected) => {
    expect((await run(argv, { input })).call?.['input']).toBe(b64(expected));
  });

  it('reads its main value from a file, and as base64 when that is said', async () => {
    writeFileSync(file('bytes'), Buffer.from([0, 255, 10]));
    writeFileSync(file('base64'), 'AP8K\n');
    expect((await run(['orders', '--in', file('bytes')])).call?.['input']).toBe('AP8K');
    expect((await run(['orders', '--in', file('base64'), '--base64'])).call?.['input']).toBe('AP8K');
    expect((await run(['orders', 'AP8K', '--base64'])).call?.['input']).toBe('AP8K');
  });

  it('says what it waits for when standard input is a terminal, and is silent otherwise', async () => {
    const waiting = await run(['orders'], { terminals: ['in', 'err'], input: 'typed' });
    expect(waiting.err).toMatch(/^reading from standard input… \(end with Ctrl-D.*\)\n$/);
    expect((await run(['orders'], { input: 'piped' })).err).toBe('');
    expect((await run(['orders', '-q'], { terminals: ['in', 'err'] })).err).toBe('');
  });

  it.each([['no name', ['--version', '1', ''], /^$/, undefined]])('ignores %s', async () => {});

  it.each([
    [
      'an illegal name',
      ['a b', 'x'],
      'coffer: NAME: "a b" can\'t be right (use letters, digits and "_", inside the name also "-" and ".")\n',
    ],
    [
      'a number that is none',
      ['a', 'x', '--version', 'abc'],
      'coffer: --version: "abc" can\'t be right (give a whole number)\n',
    ],
    [
      'an empty number',
      ['a', 'x', '--version', ''],
      'coffer: --version: "" can\'t be right (give a whole number)\n',
    ],
    [
      'a number out of range',
      ['a', 'x', '--version', '-1'],
      'coffer: --version: "-1" can\'t be right (give at least 0)\n',
    ],
    [
      'an unknown word',
      ['a', 'x', '--kind', 'lead'],
      'coffer: --kind: "lead" can\'t be right (use one of wax, ink)\n',
    ],
    [
      'a pair without a name',
      ['a', 'x', '--note', '=1'],
      'coffer: --note: "=1" can\'t be right (give NAME=VALUE)\n',
    ],
    [
      'two flags that exclude each other',
      ['a', 'x', '--deep', '--no-deep'],
      'coffer: --deep and --no-deep exclude each other (give one of them)\n',
    ],
    [
      'a flag and its twin',
      ['a', 'x', '--context', 'eA==', '--context-text', 'x'],
      'coffer: --context and --context-text exclude each other (give one of them)\n',
    ],
    [
      'a value and a file',
      ['a', 'x', '--in', '/dev/null'],
      'coffer: input and --in exclude each other (give one of them)\n',
    ],
    [
      'a file that is not there',
      ['a', '--in', '/nowhere/x'],
      "coffer: --in: can't read /nowhere/x: no such file\n",
    ],
    ['a directory in place of a file', ['a', '--in', '/'], "coffer: --in: can't read /: it is a directory\n"],
    [
      'a format that there is not',
      ['a', 'x', '-o', 'yaml'],
      'coffer: --output: "yaml" can\'t be right (use one of table, json, raw)\n',
    ],
  ])('refuses %s in one line, and runs nothing', async (_, argv, line) => {
    const { exitCode, err, out, calls } = await run(argv);
    expect({ exitCode, err, out, calls }).toEqual({ exitCode: 2, err: line, out: '', calls: [] });
  });

  it('names the flag when the operation itself refuses a value', async () => {
    const fails = notFound('no such version', { field: 'version', hint: 'look at the key' });
    const { exitCode, err } = await run(['orders', 'x'], { fails });
    expect({ exitCode, err }).toEqual({
      exitCode: 3,
      err: 'coffer: --version: no such version (look at the key)\n',
    });
  });
});

describe('the result of an operation', () => {
  const data = { stamped: b64('a\u0000b'), kind: 'wax' };

  it.each([
    ['as bytes in a pipe', [], 'a\u0000b'],
    ['as base64 with --base64', ['-o', 'raw'], 'a\u0000b'],
    ['as the object of the API with -o json', ['-o', 'json'], `${JSON.stringify(data)}\n`],
    ['as a table without lines in a pipe', ['-o', 'table'], `Field    Value\nstamped  YQBi\nkind     wax\n`],
  ])('goes to standard output %s', async (_, argv, expected) => {
    expect((await run(['orders', 'x', ...argv], { data })).out).toBe(expected);
  });

  it('is not written to a terminal when it is binary, unless that is asked for', async () => {
    const refused = await run(['orders', 'x'], { data, terminals: ['out'] });
    expect(refused.out).toBe('');
    expect(refused.err).toBe(
      'coffer: the result is binary, and is not written to a terminal (use --out FILE, a pipe, --base64, or -o raw)\n',
    );
    expect(refused.exitCode).toBe(2);
    expect((await run(['orders', 'x', '-o', 'raw'], { data, terminals: ['out'] })).out).toBe('a\u0000b');
  });

  it('ends in a newline on a terminal, and is untouched in a pipe', async () => {
    const shown = { stamped: b64('text') };
    expect((await run(['orders', 'x'], { data: shown, terminals: ['out'] })).out).toBe('text\n');
    expect((await run(['orders', 'x'], { data: shown })).out).toBe('text');
  });

  it('goes to a file that only the owner can read, which replaces an old one', async () => {
    writeFileSync(file('old'), 'old', { mode: 0o644 });
    const { out, exitCode } = await run(['orders', 'x', '--out', file('old')], { data });
    expect({ out, exitCode }).toEqual({ out: '', exitCode: 0 });
    expect(readFileSync(file('old'), 'latin1')).toBe('a\u0000b');
    expect(statSync(file('old')).mode & 0o777).toBe(0o600);
  });

  it('leaves the old file alone when the operation fails', async () => {
    writeFileSync(file('kept'), 'old');
    const { exitCode } = await run(['orders', 'x', '--out', file('kept')], { fails: new Error('defect') });
    expect(exitCode).toBe(1);
    expect(readFileSync(file('kept'), 'utf8')).toBe('old');
  });

  it('is not written over its own input', async () => {
    writeFileSync(file('both'), 'data');
    const { exitCode, err } = await run(['orders', '--in', file('both'), '--out', file('both')]);
    expect({ exitCode, err }).toEqual({
      exitCode: 2,
      err: 'coffer: --out: input and output are the same file (name another file)\n',
    });
    expect(readFileSync(file('both'), 'utf8')).toBe('data');
  });

  it.each([
    [
      'a directory that is not there',
      '/nowhere/x',
      "coffer: --out: can't write /nowhere/x: no such directory\n",
    ],
    ['a directory', '/', 'coffer: --out: / is a directory\n'],
  ])('can not be written to %s', async (_, path, line) => {
    const { exitCode, err } = await run(['orders', 'x', '--out', path]);
    expect({ exitCode, err }).toEqual({ exitCode: 2, err: line });
  });
});

describe('an operation that asks first', () => {
  const withConfirm = (answered: { question?: string }): Operation =>
    ({
      ...stamp,
      cli: {
        ...stamp.cli,
        confirm: async (values: Readonly<Record<string, unknown>>) => {
          answered.question = `Stamp ${values['name']}?`;
          return answered.question;
        },
        done: (values: Readonly<Record<string, unknown>>) => `Stamped ${values['name']}.`,
      },
    }) as unknown as Operation;

  it('refuses before anything is read when nobody can be asked', async () => {
    const { exitCode, err, calls } = await run(['a', 'x'], { operation: withConfirm({}) });
    expect(exitCode).toBe(2);
    expect(err).toBe("coffer: this can't be undone, and there is nobody to ask (say --yes to do it)\n");
    expect(calls).toEqual([]);
  });

  it('goes on without asking when --yes was said', async () => {
    expect((await run(['a', 'x', '--yes'], { operation: withConfirm({}) })).calls).toHaveLength(1);
  });

  it('does what the answer says', async () => {
    const answered: { question?: string } = {};
    const yes = await run(['a', 'x'], {
      operation: withConfirm(answered),
      answers: [true],
      terminals: ['err'],
    });
    expect(yes.calls).toHaveLength(1);
    expect(yes.asked).toEqual(['Stamp a?']);
    expect(yes.err).toBe('Stamped a.\n');
    const no = await run(['a', 'x'], { operation: withConfirm({}), answers: [false] });
    expect({ exitCode: no.exitCode, calls: no.calls, err: no.err }).toEqual({
      exitCode: 1,
      calls: [],
      err: 'Nothing was changed.\n',
    });
  });
});

describe('many items at once', () => {
  const results = (count: number) => ({
    batch_results: Array.from({ length: count }, (_, index) => ({ n: index })),
  });

  it('writes one line an item, in order, and lets those that are not JSON objects fail alone', async () => {
    const input = '{"input":"YQ=="}\n\nnot json\n[1]\n{"input":"Yg=="}\n';
    const { out, exitCode, err, calls } = await run(['a', '--batch', '-', '--kind', 'ink'], {
      input,
      data: results(2),
    });
    expect(
      out
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line)),
    ).toEqual([
      { n: 0 },
      { error: 'the item is not JSON' },
      { error: 'the item is not a JSON object' },
      { n: 1 },
    ]);
    expect(exitCode).toBe(1);
    expect(err).toBe('coffer: 2 of 4 items failed\n');
    expect(calls).toEqual([{ name: 'a', kind: 'ink', batch_input: [{ input: 'YQ==' }, { input: 'Yg==' }] }]);
  });

  it('reads one JSON array from a file as well', async () => {
    writeFileSync(file('array.json'), JSON.stringify([{ input: 'YQ==' }, { input: 'Yg==' }], undefined, 2));
    const { out, exitCode } = await run(['a', '--batch', file('array.json')], { data: results(2) });
    expect({ out, exitCode }).toEqual({ out: '{"n":0}\n{"n":1}\n', exitCode: 0 });
  });

  it('refuses a value beside the batch', async () => {
    const { err, exitCode } = await run(['a', 'x', '--batch', '-']);
    expect({ err, exitCode }).toEqual({
      exitCode: 2,
      err: 'coffer: VALUE and --batch exclude each other (give one of them)\n',
    });
  });

  it('takes a thousand items in a call at most', async () => {
    const input = '{"input":""}\n'.repeat(1500);
    const sizes: number[] = [];
    const streams = streamsDouble({ input });
    const command = commandOf(['stamp'], 'Stamp', stamp as unknown as Operation);
    const runner = {
      async run(_: Operation, raw: Readonly<Record<string, unknown>>) {
        const items = raw['batch_input'] as readonly unknown[];
        sizes.push(items.length);
        return { data: results(items.length) };
      },
      close: () => {},
    };
    const session = new Session(streams, {}, new Map(), promptsDouble(), async () => runner);
    const given = { arguments: ['a'], options: new Map([['batch', '-']]) };
    expect(await command.run(session, given)).toBe(0);
    expect(sizes).toEqual([1000, 500]);
    expect(streams.written.out.split('\n')).toHaveLength(1501);
  });
});

describe('the options that every command has', () => {
  it('have no flag twice', () => {
    const flags = everywhereOptions.map(({ flag }) => flag);
    expect(new Set(flags).size).toBe(flags.length);
  });
});
