import { describe, expect, it } from 'vitest';
import { exitCodeOf } from '../../src/cli/exit-codes.ts';
import { reportError } from '../../src/cli/terminal/report.ts';
import { ClosedPipe, Interrupted } from '../../src/cli/terminal/streams.ts';
import { CofferError, conflict, type ErrorKind, invalid, notFound } from '../../src/ground/errors.ts';
import { streamsDouble } from './streams.double.ts';

function report(error: unknown, environment = {}): { exitCode: number; err: string } {
  const streams = streamsDouble();
  const exitCode = reportError(error, streams, environment, undefined);
  return { exitCode, err: streams.written.err };
}

describe('reportError', () => {
  it.each<[ErrorKind, number]>([
    ['invalid', 2],
    ['unsupported', 2],
    ['too-large', 2],
    ['not-found', 3],
    ['denied', 4],
    ['sealed', 4],
    ['conflict', 1],
    ['corrupt', 1],
    ['unavailable', 1],
    ['exists', 6],
    ['inauthentic', 4],
    ['unconfirmed', 7],
  ])('gives %s the exit code %i', (kind, exitCode) => {
    expect(report(new CofferError(kind, 'what'))).toEqual({ exitCode, err: 'coffer: what\n' });
  });

  it('knows no kind without an exit code', () => {
    expect(Object.keys(exitCodeOf)).toHaveLength(12);
  });

  it('names the field and the remedy', () => {
    expect(report(invalid('what is wrong', { field: 'nonce', hint: 'do this.' })).err).toBe(
      'coffer: nonce: what is wrong (do this)\n',
    );
  });

  it('names an option, but no positional, for what is not there or in the wrong state', () => {
    expect(report(notFound('key not found', { field: 'name' })).err).toBe('coffer: key not found\n');
    expect(report(conflict('it exists', { field: 'name' })).err).toBe('coffer: it exists\n');
    expect(report(notFound('no such mount', { field: 'mount' })).err).toBe(
      'coffer: --mount: no such mount\n',
    );
  });

  it('does not repeat what the message begins with', () => {
    const about = (text: string) => report(invalid(text, { field: 'mount' })).err;
    expect(about('--mount cannot be empty')).toBe('coffer: --mount cannot be empty\n');
    expect(about('--mounts are many')).toBe('coffer: --mount: --mounts are many\n');
  });

  it('stays on one line and shows control characters, whatever is in the texts', () => {
    const { err } = report(invalid('a\nb\u001b[2J', { field: 'f\r', hint: 'h\u0007' }));
    expect(err).toBe('coffer: f\\u000d: a; b\\u001b[2J (h\\u0007)\n');
  });

  it('tells a defect from a mistake, and shows where only when asked to', () => {
    const defect = new TypeError('x is not a function');
    expect(report(defect)).toEqual({
      exitCode: 1,
      err: 'coffer: unexpected: x is not a function (COFFER_DEBUG=1 shows where; please report it)\n',
    });
    expect(report(defect, { COFFER_DEBUG: '1' }).err).toContain('    at ');
  });

  it('makes control characters visible in the message above a stack', () => {
    const { err } = report(invalid('from a server: \u001b[2J\u009b2J'), { COFFER_DEBUG: '1' });
    expect(err).toContain('from a server: \\u001b[2J\\u009b2J\n    at ');
    expect(err).not.toMatch(/[^\n -~]/);
  });

  it('passes on what the operating system says', () => {
    const full = Object.assign(new Error('ENOSPC'), { code: 'ENOSPC', errno: -28, syscall: 'write' });
    expect(report(full)).toEqual({ exitCode: 1, err: 'coffer: cannot write: no space left on device\n' });
  });

  it('is silent about a reader that has gone, and after Ctrl-C', () => {
    expect(report(new ClosedPipe())).toEqual({ exitCode: 0, err: '' });
    expect(report(new Interrupted())).toEqual({ exitCode: 130, err: '\n' });
  });
});
