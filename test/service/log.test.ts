import { describe, expect, it } from 'vitest';
import { Log } from '../../src/service/log.ts';

function logged(write: (log: Log) => void): Record<string, unknown> {
  const lines: string[] = [];
  write(new Log((line) => lines.push(line)));
  expect(lines).toHaveLength(1);
  return JSON.parse(lines[0] ?? '') as Record<string, unknown>;
}

describe('a line of the log', () => {
  it.each([
    ['info', (log: Log) => log.info('said', { of: 1 })],
    ['warn', (log: Log) => log.warn('said', { of: 1 })],
    ['error', (log: Log) => log.alarm('said', { of: 1 })],
  ])('has its time, its level %s and its fields', (level, write) => {
    expect(logged(write)).toEqual({
      time: expect.stringMatching(/^\d{4}-.*Z$/),
      level,
      message: 'said',
      of: 1,
    });
  });

  it('has of an internal error where it was and its code, and never what it says', () => {
    const error = Object.assign(new TypeError('the key is hunter2'), { code: 'ERR_TOLD' });
    const line = logged((log) => log.defect('request failed', error));
    expect(line).toMatchObject({
      level: 'error',
      message: 'request failed',
      error: 'TypeError',
      code: 'ERR_TOLD',
    });
    expect(line['stack']).toContainEqual(expect.stringMatching(/^at .*log\.test\.ts/));
    expect(JSON.stringify(line)).not.toContain('hunter2');
  });

  it.each([
    ['a text', 'the key is hunter2', 'Error'],
    ['nothing', undefined, 'Error'],
    ['one with a code that is no text', Object.assign(new RangeError('hunter2'), { code: 7 }), 'RangeError'],
    ['one without a stack', Object.assign(new RangeError('hunter2'), { stack: undefined }), 'RangeError'],
  ])('has nothing of %s that was thrown but its kind', (_, thrown, error) => {
    const line = logged((log) => log.defect('request failed', thrown));
    expect(line).toMatchObject({ message: 'request failed', error });
    expect(Object.hasOwn(line, 'code')).toBe(false);
    expect(JSON.stringify(line)).not.toContain('hunter2');
  });
});
