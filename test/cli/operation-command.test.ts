import { createHash } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { everywhereOptions } from '../../src/cli/parse/everywhere.ts';
import { notFound } from '../../src/ground/errors.ts';
import type { Operation } from '../../src/operations/declaration/operation.ts';
import { run, type Setup, stamp } from './stamp-command.ts';

let directory = '';
const file = (name: string): string => join(directory, name);

beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'coffer-cli-'));
});
afterAll(() => rmSync(directory, { recursive: true, force: true }));

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

  describe('that lists in pages', () => {
    const list: Operation = {
      ...stamp,
      cli: { paged: true, lines: () => ['a'], table: () => ({ head: [], rows: [] }) },
    };
    const pageOf = (next: number | null) => ({
      meta: { pagination: { 'page-size': 20, 'next-page': next, 'total-count': 30 } },
    });
    const warned = async (argv: readonly string[], setup: Setup = {}) =>
      (await run(['orders', ...argv], { operation: list, data: pageOf(2), ...setup })).err;

    it('warns that lines are not all there is', async () => {
      const warning = 'coffer: warning: showing 20 of 30 (use --all to list all)\n';
      expect(await warned([])).toBe(warning);
      expect(await warned(['-o', 'raw'], { terminals: ['out'] })).toBe(warning);
      expect(await warned([], { data: pageOf(null) })).toBe('');
    });

    it('says nothing to who knows, or is told with the page', async () => {
      expect(await warned(['-o', 'json'])).toBe('');
      expect(await warned(['-o', 'table'])).toBe('');
      expect(await warned([], { terminals: ['out'] })).toBe('');
      expect(await warned(['--out', '-'], { terminals: ['out'] })).toBe('');
      expect(await warned(['-q'])).toBe('');
    });
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

  it('sends a main value of up to 1 MiB as it is, and of a longer one the hash', async () => {
    const bytes = (count: number): Buffer => Buffer.alloc(count, 'x');
    const of = (digest: Buffer) => ({ input: digest.toString('hex') });
    const hash = async () => ({ algorithm: 'sha256', of });
    const operation: Operation = { ...stamp, cli: { ...stamp.cli, largeInput: { hint: '', hash } } };
    const sent = async (count: number) =>
      (await run(['orders'], { operation, input: bytes(count) })).call?.['input'];
    const most = 2 ** 20;
    expect((await sent(most)) === bytes(most).toString('base64')).toBe(true);
    const digest = createHash('sha256')
      .update(bytes(most + 1))
      .digest('hex');
    expect(await sent(most + 1)).toBe(digest);
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
    expect(waiting.err).toMatch(
      /^No [a-z]+ given\. Reading from standard input, end with Ctrl-D on an empty line…\n$/,
    );
    expect((await run(['orders'], { input: 'piped' })).err).toBe('');
    expect((await run(['orders', '-q'], { terminals: ['in', 'err'] })).err).toBe('');
  });

  it.each([
    [
      'an illegal name',
      ['a b', 'x'],
      'coffer: NAME: invalid value "a b" (use letters, digits, "_", "-" and "."; the name must begin and end with a letter, a digit or "_")\n',
    ],
    [
      'a number that is none',
      ['a', 'x', '--version', 'abc'],
      'coffer: --version: invalid value "abc" (use an integer)\n',
    ],
    [
      'a text that is not base64',
      ['a', 'x', '--context', 'user-17'],
      'coffer: --context: illegal base64 data at input byte 4 (use standard base64 with padding, or plain text with --context-text)\n',
    ],
    [
      'an empty number',
      ['a', 'x', '--version', ''],
      'coffer: --version: invalid value "" (use an integer)\n',
    ],
    [
      'a padded number, which the API takes for octal',
      ['a', 'x', '--version', '010'],
      'coffer: --version: invalid value "010" (remove the leading zero)\n',
    ],
    [
      'a number out of range',
      ['a', 'x', '--version', '-1'],
      'coffer: --version: invalid value "-1" (use at least 0)\n',
    ],
    [
      'an unknown word',
      ['a', 'x', '--kind', 'lead'],
      'coffer: --kind: invalid value "lead" (use one of wax, ink)\n',
    ],
    [
      'a pair without a name',
      ['a', 'x', '--note', '=1'],
      'coffer: --note: invalid value "=1" (use NAME=VALUE)\n',
    ],
    [
      'a pair with a name that has another value already',
      ['a', 'x', '--note', 'to=ada', '--note', 'by=bob', '--note', 'to=bob'],
      'coffer: --note: "to" is given twice with different values (use each NAME once)\n',
    ],
    [
      'two flags that exclude each other',
      ['a', 'x', '--deep', '--no-deep'],
      'coffer: --deep cannot be used with --no-deep (use only one of them)\n',
    ],
    [
      'a flag and its twin',
      ['a', 'x', '--context', 'eA==', '--context-text', 'x'],
      'coffer: --context cannot be used with --context-text (use only one of them)\n',
    ],
    [
      'a value and a file',
      ['a', 'x', '--in', '/dev/null'],
      'coffer: input cannot be used with --in (use only one of them)\n',
    ],
    [
      'a file that is not there',
      ['a', '--in', '/nowhere/x'],
      'coffer: --in: cannot read /nowhere/x: no such file\n',
    ],
    ['a directory in place of a file', ['a', '--in', '/'], 'coffer: --in: cannot read /: is a directory\n'],
    [
      'a format that there is not',
      ['a', 'x', '-o', 'yaml'],
      'coffer: --output: invalid value "yaml" (use one of table, wide, json, raw)\n',
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
      'coffer: refusing to write binary data to a terminal (use --out FILE, a pipe, --base64, or -o raw)\n',
    );
    expect(refused.exitCode).toBe(2);
    expect((await run(['orders', 'x', '-o', 'raw'], { data, terminals: ['out'] })).out).toBe('a\u0000b');
    const noText = { stamped: Buffer.of(0x61, 0xff).toString('base64') };
    const other = await run(['orders', 'x'], { data: noText, terminals: ['out'] });
    expect({ exitCode: other.exitCode, out: other.out, err: other.err }).toEqual({
      exitCode: 2,
      out: '',
      err: refused.err,
    });
  });

  it('ends in a newline on a terminal, and is untouched in a pipe', async () => {
    const shown = { stamped: b64('text') };
    expect((await run(['orders', 'x'], { data: shown, terminals: ['out'] })).out).toBe('text\n');
    expect((await run(['orders', 'x'], { data: shown })).out).toBe('text');
  });

  it('goes to a file that only the owner can read, which replaces an old one if that is asked for', async () => {
    writeFileSync(file('old'), 'old', { mode: 0o644 });
    const { out, exitCode } = await run(['orders', 'x', '--out', file('old'), '--force'], { data });
    expect({ out, exitCode }).toEqual({ out: '', exitCode: 0 });
    expect(readFileSync(file('old'), 'latin1')).toBe('a\u0000b');
    expect(statSync(file('old')).mode & 0o777).toBe(0o600);
  });

  it('leaves the old file alone when the operation fails', async () => {
    writeFileSync(file('kept'), 'old');
    const { exitCode } = await run(['orders', 'x', '--out', file('kept'), '--force'], {
      fails: new Error('defect'),
    });
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
      'coffer: --out: cannot write /nowhere/x: no such directory\n',
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
    expect(err).toBe('coffer: cannot prompt for confirmation (use --yes to skip the confirmation)\n');
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
      err: 'No changes made.\n',
    });
  });
});

describe('the options that every command has', () => {
  it('have no flag twice', () => {
    const flags = everywhereOptions.map(({ flag }) => flag);
    expect(new Set(flags).size).toBe(flags.length);
  });
});
