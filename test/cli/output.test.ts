import { stripVTControlCharacters } from 'node:util';
import { describe, expect, it } from 'vitest';
import { type OutputShape, printResult } from '../../src/cli/files/output.ts';
import type { OptionValue } from '../../src/cli/given.ts';
import { Session } from '../../src/cli/session.ts';
import { promptsDouble, type StreamsSetup, streamsDouble } from './streams.double.ts';

/** Sets the title of a terminal, in both spellings of the control sequence, and turns the direction of writing. */
const HOSTILE = 'a\x1b]0;gotcha\x07\u009d0;gotcha\u009c\u202eb';
const SHOWN = 'a\\u001b]0;gotcha\\u0007\\u009d0;gotcha\\u009c\\u202eb';

const setUp = (setup: StreamsSetup = {}, options: Record<string, OptionValue> = {}) => {
  const streams = streamsDouble(setup);
  const prompts = promptsDouble([true]);
  const nowhere = () => Promise.reject(new Error('nothing is run here'));
  const session = new Session(streams, {}, new Map(Object.entries(options)), prompts, nowhere);
  return { streams, prompts, session };
};

async function printed(
  data: unknown,
  shape: OutputShape,
  setup: StreamsSetup,
  options = {},
): Promise<string> {
  const { streams, session } = setUp(setup, options);
  await printResult(session, data, shape, { file: undefined, keepBase64: false });
  return streams.written.out;
}

const terminal: StreamsSetup = { terminals: ['out', 'err'] };
const lines: OutputShape = { result: { member: 'keys', as: 'lines' } };
const text: OutputShape = { result: { member: 'policy', as: 'text' } };

describe('a text', () => {
  it('ends with one newline, whether it had one or not', async () => {
    expect(await printed({ policy: 'PEM' }, text, {})).toBe('PEM\n');
    expect(await printed({ policy: 'PEM\n' }, text, {})).toBe('PEM\n');
    expect(await printed({ policy: '' }, text, {})).toBe('\n');
  });
});

describe('a list', () => {
  it('is a table of one column with -o table, whatever it is without', async () => {
    const data = { keys: ['orders', 'invoices'] };
    expect(await printed(data, lines, {}, { output: 'table' })).toBe('keys\norders\ninvoices\n');
    expect(await printed(data, lines, {})).toBe('orders\ninvoices\n');
  });
});

describe('what others have named or written, shown on a terminal,', () => {
  it('can do nothing to it as lines, and is left alone in a pipe', async () => {
    const data = { keys: [HOSTILE, 'plain'] };
    expect(await printed(data, lines, terminal)).toBe(`${SHOWN}\nplain\n`);
    expect(await printed(data, lines, {})).toBe(`${HOSTILE}\nplain\n`);
    expect(await printed(data, lines, terminal, { output: 'raw' })).toBe(`${HOSTILE}\nplain\n`);
  });

  it('can do nothing to it as a text, which keeps its lines and tabs', async () => {
    const policy = `# ${HOSTILE}\npath "a" {\n\tpolicy = "read"\n}`;
    expect(await printed({ policy }, text, terminal)).toBe(`# ${SHOWN}\npath "a" {\n\tpolicy = "read"\n}\n`);
  });

  it('can do nothing to it as JSON, which stays the same', async () => {
    const out = await printed({ keys: [HOSTILE] }, lines, terminal, { output: 'json' });
    expect(out).toContain(`"${SHOWN}"`);
    expect(JSON.parse(out)).toEqual({ keys: [HOSTILE] });
  });

  it('can do nothing to it anywhere in a table', async () => {
    const table = () => ({ head: [HOSTILE], rows: [[HOSTILE]], summary: HOSTILE });
    const out = await printed({}, { table }, { ...terminal, columns: 500 });
    expect(out.split(SHOWN)).toHaveLength(4);
    // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
    expect(out.replaceAll(/\x1b\[\d+m/g, '')).not.toMatch(/[\x1b\x07\x9c\x9d\u202e]/);
  });

  it('can do nothing to it in a warning or a remark', async () => {
    const { session, streams } = setUp(terminal);
    session.warn(HOSTILE);
    session.remark(HOSTILE);
    session.fail(HOSTILE);
    const { err } = streams.written;
    expect(stripVTControlCharacters(err)).toBe(`coffer: warning: ${SHOWN}\n${SHOWN}\ncoffer: ${SHOWN}\n`);
    // What is coloured is ours.
    expect(err.split('\u001b').filter((part) => part.includes('gotcha'))).toEqual([
      `[39m ${SHOWN}\n${SHOWN}\n`,
      `[39m ${SHOWN}\n`,
    ]);
  });
});
