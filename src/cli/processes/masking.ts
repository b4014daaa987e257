import { invalid, unsupported } from '../../ground/errors.ts';
import type { Environment } from '../given.ts';

/**
 * What makes a pipeline hide values in its log. GitHub's runner hides each text that a line `::add-mask::TEXT` names, and shows
 * no such line; a text of several lines has to be named line by line. GitLab's hides only variables that were set as masked
 * before the job began; printing a value there would show it.
 * @throws `unsupported` for GitLab; `invalid` where no runner reads what is printed.
 */
export function maskingLines(where: string, environment: Environment): (values: readonly string[]) => string {
  if (where === 'gitlab') {
    throw unsupported("GitLab's log hides only variables that are set as masked before the job begins", {
      field: '--mask',
      hint: 'leave --mask out, and keep the values out of what the program prints',
    });
  }
  if (where !== 'github') throw invalid(`"${where}" can't be right`, { field: '--mask', hint: 'use github' });
  if (environment['GITHUB_ACTIONS'] !== 'true') {
    throw invalid('this is no job of GitHub Actions, so the values would be printed, not hidden', {
      field: '--mask',
      hint: 'leave it out',
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
