import { invalid, unsupported } from '../../ground/errors.ts';
import type { Environment } from '../given.ts';

/**
 * Returns a function that formats the lines that hide values in a CI log. GitHub's runner hides each text in a line
 * `::add-mask::TEXT`, and does not show that line; a text of several lines must be masked line by line. GitLab hides
 * only variables set as masked before the job began; printing a value there would reveal it.
 * @throws `unsupported` for GitLab; `invalid` if no runner reads the output
 */
export function maskingLines(where: string, environment: Environment): (values: readonly string[]) => string {
  if (where === 'gitlab') {
    throw unsupported('GitLab only masks variables that are defined as masked before the job starts', {
      field: '--mask',
      hint: 'omit --mask and make sure the program does not print the values',
    });
  }
  if (where !== 'github') throw invalid(`invalid value "${where}"`, { field: '--mask', hint: 'use github' });
  if (environment['GITHUB_ACTIONS'] !== 'true') {
    throw invalid('not running in GitHub Actions: the values would be printed instead of masked', {
      field: '--mask',
      hint: 'omit --mask',
    });
  }
  return (values) => {
    const lines = values
      .flatMap((value) => [value, ...value.split(/\r?\n/)])
      .filter((line) => line.trim() !== '');
    return [...new Set(lines)].map((line) => `::add-mask::${escaped(line)}\n`).join('');
  };
}

/** Escapes the data of a runner command. */
const escaped = (text: string): string =>
  text.replaceAll('%', '%25').replaceAll('\r', '%0D').replaceAll('\n', '%0A');
