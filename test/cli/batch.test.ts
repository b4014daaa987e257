import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { commandOf } from '../../src/cli/operation-command.ts';
import { Session } from '../../src/cli/session.ts';
import type { Operation } from '../../src/operations/declaration/operation.ts';
import { run, stamp } from './stamp-command.ts';
import { promptsDouble, streamsDouble } from './streams.double.ts';

let directory = '';
const file = (name: string): string => join(directory, name);

beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'coffer-cli-'));
});
afterAll(() => rmSync(directory, { recursive: true, force: true }));

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

  it.each([
    ['fewer results than items', results(1)],
    ['more results than items', results(3)],
    ['none', {}],
    ['none that is a list', { batch_results: { 0: 1, 1: 2, length: 2 } }],
  ])('is refused, and prints nothing, where a server answers with %s', async (_, data) => {
    const { out, err, exitCode } = await run(['a', '--batch', '-'], {
      input: '{"input":"YQ=="}\n{"input":"Yg=="}\n',
      data,
    });
    expect({ out, err, exitCode }).toEqual({
      out: '',
      err: 'coffer: unexpected response: wrong number of results\n',
      exitCode: 2,
    });
  });

  it('counts as failed what is an object with an error, and nothing else', async () => {
    const data = { batch_results: [null, 7, 'error', { error: 'bad' }] };
    const { err, exitCode } = await run(['a', '--batch', '-'], { input: '{}\n{}\n{}\n{}\n', data });
    expect({ err, exitCode }).toEqual({ err: 'coffer: 1 of 4 items failed\n', exitCode: 1 });
  });

  it('reads one JSON array from a file', async () => {
    writeFileSync(file('array.json'), JSON.stringify([{ input: 'YQ==' }, { input: 'Yg==' }], undefined, 2));
    const { out, exitCode } = await run(['a', '--batch', file('array.json')], { data: results(2) });
    expect({ out, exitCode }).toEqual({ out: '{"n":0}\n{"n":1}\n', exitCode: 0 });
  });

  it('refuses a value beside the batch', async () => {
    const { err, exitCode } = await run(['a', 'x', '--batch', '-']);
    expect({ err, exitCode }).toEqual({
      exitCode: 2,
      err: 'coffer: VALUE cannot be used with --batch (use only one of them)\n',
    });
  });

  it('asks about the call first where no line could be one, so that what refuses it all comes before any answer', async () => {
    const { calls, out } = await run(['a', '--batch', '-'], { input: 'x\ny\n', data: results(1) });
    expect(calls).toEqual([{ name: 'a', batch_input: [{}] }]);
    expect(out).toBe('{"error":"the item is not JSON"}\n{"error":"the item is not JSON"}\n');
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
      at: () => Promise.reject(new Error('not asked for')),
      close: () => {},
    };
    const session = new Session(streams, {}, new Map(), promptsDouble(), async () => runner);
    const given = { arguments: ['a'], options: new Map([['batch', '-']]) };
    expect(await command.run(session, given)).toBe(0);
    expect(sizes).toEqual([1000, 500]);
    expect(streams.written.out.split('\n')).toHaveLength(1501);
  });
});
