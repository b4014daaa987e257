import { readFileSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { attempt } from '../../ground/errors.ts';
import { RULES_NAME } from '../../secret-files/rules.ts';
import { filesBelow, git, topOf } from '../repository/git.ts';
import type { Session } from '../session.ts';
import type { Rulebook } from './rulebook.ts';

/*
 * Git does not copy configuration and hooks: in a clone without "coffer secrets git-setup", a plaintext value is
 * committed silently.
 */

/** Command of the pre-commit hook that refuses plaintext; the hook may have others as well. */
export const CHECK_STAGED = 'secrets check --staged';

/**
 * Says on a terminal, once a command, that git in this clone is not set up for encrypted values.
 * @param paths files that the command worked on; only those that a rule names count
 */
export async function remindOfGitSetup(
  session: Session,
  rulebook: Rulebook,
  paths: readonly string[],
): Promise<void> {
  if (!canRemind(session)) return;
  const top = topOf(resolve('.'));
  for (const path of paths) {
    if (top === undefined || topOf(dirname(resolve(path))) !== top) continue;
    if ((await rulebook.ruleFor(path)) === undefined) continue;
    if (!isSetUp(top)) sayHow(session);
    return;
  }
}

/** Says the same for all files of the repository, if it has rules. */
export function remindOfGitSetupHere(session: Session): void {
  const top = canRemind(session) ? topOf(resolve('.')) : undefined;
  if (top === undefined || isSetUp(top)) return;
  if (filesBelow(top).some((path) => basename(path) === RULES_NAME)) sayHow(session);
}

const canRemind = ({ streams, settings }: Session): boolean => streams.err.isTerminal && !settings.quiet;

/** Whether git has the drivers, or a hook that refuses plaintext. Without git, there is nothing to set up. */
function isSetUp(top: string): boolean {
  if (git(top, ['config', '--get-regexp', String.raw`^diff\.coffer(-[a-z]+)?\.textconv$`]) !== undefined)
    return true;
  const answer = git(top, ['rev-parse', '--git-path', 'hooks']);
  if (answer === undefined) return true;
  const hook = join(resolve(top, answer.toString().replace(/\n$/, '')), 'pre-commit');
  return attempt(() => runs(readFileSync(hook, 'utf8'), CHECK_STAGED)) === true;
}

/** Whether a hook has the words of a command, other than in a comment. */
export const runs = (hook: string, words: string): boolean =>
  hook.split('\n').some((line) => !line.trimStart().startsWith('#') && line.includes(words));

const sayHow = (session: Session): void =>
  session.sayCommand(
    'In this clone, git neither decrypts diffs nor refuses to commit plaintext yet. To set up both:',
    'coffer secrets git-setup',
  );
