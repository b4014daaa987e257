import { describe, expect, it } from 'vitest';
import { maskingLines } from '../../../src/cli/processes/masking.ts';
import { refusal } from '../../refusal.ts';

const IN_A_JOB = { GITHUB_ACTIONS: 'true' };

describe('the values that a CI log is to hide', () => {
  it('are named line by line to the runner of GitHub alone, in a job', () => {
    expect(maskingLines('github', IN_A_JOB)(['one', 'two\nthree', ' '])).toBe(
      '::add-mask::one\n::add-mask::two%0Athree\n::add-mask::two\n::add-mask::three\n',
    );
  });

  it.each([
    ['a newline', '\n', '%0A'],
    ['a carriage return and a newline', '\r\n', '%0D%0A'],
  ])('are named by lines as programs print them, whatever ends them: %s', (_what, end, escaped) => {
    const value = ['one', '', '100% two', 'three', ''].join(end);
    expect(maskingLines('github', IN_A_JOB)([value])).toBe(
      [
        `::add-mask::${['one', '', '100%25 two', 'three', ''].join(escaped)}\n`,
        '::add-mask::one\n::add-mask::100%25 two\n::add-mask::three\n',
      ].join(''),
    );
  });

  it('are named once, however often they occur', () => {
    expect(maskingLines('github', IN_A_JOB)(['one', 'one\r\none', 'one'])).toBe(
      '::add-mask::one\n::add-mask::one%0D%0Aone\n',
    );
  });

  it.each<[string, Readonly<Record<string, string>>, string, string]>([
    ['jenkins', IN_A_JOB, 'invalid', 'invalid value "jenkins"'],
    ['', IN_A_JOB, 'invalid', 'invalid value ""'],
    [
      'gitlab',
      { GITLAB_CI: 'true' },
      'unsupported',
      'GitLab only masks variables that are defined as masked before the job starts',
    ],
    ['github', {}, 'invalid', 'not running in GitHub Actions: the values would be printed instead of masked'],
    [
      'github',
      { GITHUB_ACTIONS: 'false' },
      'invalid',
      'not running in GitHub Actions: the values would be printed instead of masked',
    ],
  ])('are printed to nobody else: --mask %s with %j', (where, environment, kind, message) => {
    expect(refusal(() => maskingLines(where, environment))).toEqual({ kind, message, field: '--mask' });
  });
});
