import { existsSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import { CofferError, invalid } from '../../ground/errors.ts';
import { lineCounter } from '../../secret-files/format.ts';
import { isSecret, RULES_NAME, type Rule } from '../../secret-files/rules.ts';
import { type Command, switching } from '../command.ts';
import { DONE, FAILED } from '../exit-codes.ts';
import { printResult } from '../files/output.ts';
import {
  contentsOf,
  filesBelow,
  indexedFilesNamed,
  liesBelow,
  stagedFiles,
  workingTree,
} from '../repository/git.ts';
import { Files, formatIn, formatOption, manyFiles, Outcomes, type RuledFile } from '../secret-files/files.ts';
import { Rulebook } from '../secret-files/rulebook.ts';
import { parsedFile, type ReadFile } from '../secret-files/secret-file.ts';
import type { Session } from '../session.ts';
import { shellWord } from '../terminal/shell-word.ts';
import { visible } from '../terminal/visible.ts';

const STAGED = 'staged';
const IN_REPOSITORY = 'run it in the repository';

export const command: Command = {
  arguments: [
    {
      ...manyFiles,
      required: false,
      help: 'Files to check. Default: all files matched by .coffer.yaml in this directory and below.',
    },
  ],
  options: [switching(STAGED, 'Check the staged versions in the git index.'), formatOption],
  details:
    'Prints FILE:LINE:NAME for each plaintext value that should be encrypted, and exits with 1 if there is any. ' +
    'Does not check whether encrypted values can be decrypted, so neither a key nor a store is needed. With ' +
    '--staged, also exits with 1 if the staged files need files of the keyring (.coffer) that are not staged.',
  examples: [
    ['coffer secrets check', 'Check all files, e.g. in CI'],
    ['coffer secrets check --staged', 'Check in a pre-commit hook'],
  ],
  isVerdict: true,
  async run(session, { arguments: paths, options }) {
    if (options.has(STAGED) && paths.length > 0) {
      throw invalid('FILE cannot be used with --staged', { hint: 'use only one of them' });
    }
    const outcomes = new Outcomes(session);
    const found: Findings[] = [];
    const unruled = new Set<string>();
    let isLacking = false;
    if (options.has(STAGED)) {
      const read: ReadFile[] = [];
      await outcomes.each(await staged(session), async ({ path, content, rule }) => {
        if (content instanceof CofferError) throw content;
        const file = await parsedFile(path, content, formatIn(options) ?? rule.format);
        read.push(file);
        found.push(findingsIn({ ...file, rule }));
      });
      isLacking = await reportLackingFacts(session, read);
    } else {
      const rulebook = new Rulebook(session);
      const files = new Files(session, options, rulebook);
      const named = paths.length > 0 ? paths : await ruledFiles(rulebook);
      await outcomes.each(named, async (path) => {
        const file = await files.open(path);
        if (file.rule === undefined) unruled.add(file.path);
        found.push(findingsIn(file));
      });
    }
    const findings = found.flat();
    await report(session, findings, options.has(STAGED), unruled);
    if (findings.length === 0 && outcomes.exitCode === DONE && !options.has(STAGED))
      session.remark(
        `Checked ${found.length} ${found.length === 1 ? 'file' : 'files'}: no plaintext values that should be encrypted.`,
      );
    return findings.length > 0 || isLacking ? FAILED : outcomes.exitCode;
  },
};

type Findings = ReturnType<typeof findingsIn>;

function findingsIn({ path, file, rule }: Pick<RuledFile, 'path' | 'file' | 'rule'>) {
  const lineOf = lineCounter(file.text);
  return file.places
    .filter((place) => place.sealed === undefined && isSecret(place, rule))
    .map(({ name, start }) => ({ file: path, line: lineOf(start), name }));
}

/**
 * Returns the files that the rules apply to.
 * @throws `invalid` if there are no rules
 */
async function ruledFiles(rulebook: Rulebook): Promise<readonly string[]> {
  const top = (await rulebook.rulesOf(resolve('.')))?.directory;
  if (top === undefined) {
    throw invalid(`no ${RULES_NAME} in this directory or its parents`, {
      hint: 'create one, or name the files',
    });
  }
  const ruled: string[] = [];
  for (const path of filesBelow(top)) {
    const absolute = join(top, path);
    if ((await rulebook.ruleFor(absolute)) === undefined || !existsSync(absolute)) continue;
    // A link to a file outside is not committed, and its target does not belong in a pipeline's log.
    if (liesBelow(top, absolute)) ruled.push(relative('.', absolute));
  }
  return ruled;
}

/**
 * Returns the files of the next commit that the rules apply to. The rules are those in the index, if they are staged,
 * otherwise those in the working tree.
 */
async function staged(session: Session) {
  const top = workingTree('.', 'omit --staged, or name the files');
  const contents = new Map<string, Buffer>();
  for (const [{ path }, content] of contentsOf(top, indexedFilesNamed(top, RULES_NAME))) {
    if (content instanceof CofferError) throw content;
    contents.set(join(top, path), content);
  }
  const rulebook = new Rulebook(session, contents);
  const rules = new Map<string, Rule>();
  const files = stagedFiles(top);
  for (const { path } of files) {
    const rule = await rulebook.ruleFor(join(top, path));
    if (rule !== undefined) rules.set(path, rule);
  }
  const ruled = files.filter(({ path }) => rules.has(path));
  return [...contentsOf(top, ruled)].map(([{ path }, content]) => {
    return { path, content, rule: rules.get(path) as Rule };
  });
}

/** @param unruled files that no rule names a key for */
async function report(
  session: Session,
  findings: Findings,
  isStaged: boolean,
  unruled: ReadonlySet<string>,
): Promise<void> {
  const lines = () => findings.map(({ file, line, name }) => visible(`${file}:${line}:${name}`));
  const isJson = session.settings.format === 'json';
  if (findings.length > 0 || isJson)
    await printResult(session, { findings }, isJson ? {} : { lines, result: LINES });
  if (findings.length === 0) return;
  const what = findings.length === 1 ? 'a value' : `${findings.length} values`;
  session.fail(`${what} should be encrypted (${remedy(findings, isStaged, unruled)})`);
}

function remedy(findings: Findings, isStaged: boolean, unruled: ReadonlySet<string>): string {
  const byKey = Map.groupBy(new Set(findings.map(({ file }) => file)), (file) => unruled.has(file));
  const commands = [...byKey].map(([isWithoutKey, files]) => {
    const named = isStaged ? files.map(fromHere) : files;
    const words = files.length > MOST_FILES ? 'FILE...' : named.map(shellWord).join(' ');
    const key = isWithoutKey ? ' --key NAME' : '';
    return `coffer secrets encrypt ${words}${key}${isStaged ? ` && git add ${words}` : ''}`;
  });
  return commands.join(' && ');
}

/** Returns a path from the top of the working tree as a command to paste needs it, in the working directory. */
const fromHere = (path: string): string => relative('.', join(workingTree('.', IN_REPOSITORY), path));

/** Maximum number of files that a command to paste names. */
const MOST_FILES = 3;

const LINES = { member: 'findings', as: 'lines' } as const;

/**
 * Reports staged files that need facts of a keyring which are not staged.
 * @returns whether there are any
 */
async function reportLackingFacts(session: Session, files: readonly ReadFile[]): Promise<boolean> {
  const { filesLackingFacts } = await import('../team/staged-facts.ts');
  const lacking = filesLackingFacts(
    workingTree('.', IN_REPOSITORY),
    files.map(({ path, file }) => ({ path, values: file.places.flatMap(({ sealed }) => sealed ?? []) })),
  );
  for (const { path, what, keyring, fact } of lacking)
    session.fail(
      fact === undefined
        ? `${path} needs ${what}, which is not in ${keyring} (merge the branch that has it)`
        : `${path} needs ${what}, but ${keyring}/${fact} is not staged (run "git add ${shellWord(fromHere(keyring))}")`,
    );
  return lacking.length > 0;
}
