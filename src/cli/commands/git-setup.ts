import { existsSync, lstatSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, dirname, join, relative, resolve, sep } from 'node:path';
import { notFound, unavailable, unlessRefused, unsupported } from '../../ground/errors.ts';
import { withoutLast } from '../../ground/trim.ts';
import { RULES_NAME, type Rule } from '../../secret-files/rules.ts';
import { KEYRING } from '../../team/directory.ts';
import { loadFacts } from '../../team/files.ts';
import { judge } from '../../team/judge/judge.ts';
import { signatureCheck } from '../../team/signing.ts';
import type { OwnCommand } from '../command.ts';
import { findProgram } from '../files/program.ts';
import { programAfterNode } from '../program.ts';
import { filesBelow, git, liesBelow, workingTree } from '../repository/git.ts';
import { CHECK_STAGED, runs } from '../secret-files/clone-reminder.ts';
import { Rulebook } from '../secret-files/rulebook.ts';
import type { Session } from '../session.ts';
import { TeamMemory } from '../team/memory.ts';
import { isUnfinished, isWaiting, WORK_IS_LEFT } from '../team/oddities.ts';
import { placeIn } from '../team/place.ts';
import { quoted } from '../terminal/shell-word.ts';
import { visible } from '../terminal/visible.ts';

/** Name of the drivers in git's configuration and attributes. */
const DRIVER = 'coffer';
const EXECUTABLE = 0o755;

/** Hook of git. */
interface Hook {
  readonly name: string;
  /** Command of the hook; an existing hook that contains it is already set up. */
  readonly words: string;
  /** Returns the line for a hook that is there. */
  line(command: string): string;
  /** Returns the last line of a hook of its own. */
  only(command: string): string;
}

const CHECK: Hook = {
  name: 'pre-commit',
  words: CHECK_STAGED,
  line: (command) => `${command} || exit`,
  only: (command) => `exec ${command}`,
};
/** Says what a merge has left open. It never fails, and says nothing where Coffer is no longer installed. */
const quietly = (command: string): string => `${command} 2>/dev/null || :`;
const MERGED: Hook = { name: 'post-merge', words: 'secrets git-merged', line: quietly, only: quietly };

export const command: OwnCommand = {
  details:
    'Configures the current git repository. "git diff" and "git log -p" show decrypted values if the store is ' +
    'unlocked, and never prompt. "git merge" merges value by value, so changes to different values do not ' +
    "conflict. A pre-commit hook rejects plaintext values that .coffer.yaml says to encrypt. With a team's " +
    'keyring, a post-merge hook says when "coffer team settle" is needed. Run this command once in each clone.',
  examples: [['coffer secrets git-setup', 'Set up this clone']],
  async run(session) {
    const root = workingTree('.', 'run it in the repository');
    const drivers = await driversOf(session, root);
    if (drivers.length === 0) {
      throw notFound(`no ${RULES_NAME} in ${root}`, {
        hint: 'create it with rules for your files, see "coffer help secrets-format"',
      });
    }
    const own = ownCommand(session);
    configure(root, own, drivers);
    writeAttributes(session, root, drivers);
    writeHook(session, root, own, CHECK);
    if (foldersWithKeyring(root).length > 0) writeHook(session, root, own, MERGED);
  },
};

/** Attribute lines for the files of one rule. */
type Driver = ReturnType<typeof driverOf>;

async function driversOf(session: Session, root: string): Promise<readonly Driver[]> {
  const rulebook = new Rulebook(session);
  const drivers: Driver[] = [];
  for (const path of filesBelow(root).filter((name) => basename(name) === RULES_NAME)) {
    const directory = dirname(resolve(root, path));
    const found = await rulebook.rulesOf(directory);
    const prefix = relative(root, directory).split(sep).join('/');
    for (const rule of found?.rules ?? []) drivers.push(driverOf(rule, prefix));
  }
  return drivers;
}

const driverOf = ({ format, files }: Rule, prefix: string) => ({
  name: format === undefined ? DRIVER : `${DRIVER}-${format}`,
  format,
  patterns: files.flatMap((pattern) => attributePatterns(pattern, prefix)),
});

/** Converts a pattern of a rule to git's: unlike git's, it also covers all files below a directory. */
function attributePatterns(pattern: string, prefix: string): readonly string[] {
  const bare = withoutLast(pattern.replace(/^\//, ''), '/');
  const isAnywhere = !withoutLast(pattern, '/').includes('/');
  const above = prefix === '' ? '' : `/${prefix}`;
  const anchored = isAnywhere ? (prefix === '' ? bare : `${above}/**/${bare}`) : `${above}/${bare}`;
  const below = isAnywhere ? `${above}/**/${bare}/**` : `${anchored}/**`;
  return bare.endsWith('**') || /\.\w+$/.test(bare) ? [anchored] : [anchored, below];
}

function configure(root: string, own: string, drivers: readonly Driver[]): void {
  const set = (name: string, value: string): void => {
    if (git(root, ['config', '--local', name, value]) === undefined)
      throw unavailable(`cannot set ${name} with git config`);
  };
  for (const [name, format] of new Map(drivers.map((driver) => [driver.name, driver.format]))) {
    // After "--", a file may have a name such as "--help.env".
    const option = format === undefined ? '' : ` --format ${format}`;
    set(`diff.${name}.textconv`, `${own} secrets git-textconv${option} --`);
    // Caching would store the plaintext in the repository.
    set(`diff.${name}.cachetextconv`, 'false');
    set(`merge.${name}.name`, 'values encrypted by Coffer');
    set(`merge.${name}.driver`, `${own} secrets git-merge -- %O %A %B %P`);
  }
}

function writeAttributes(session: Session, root: string, drivers: readonly Driver[]): void {
  const path = resolve(root, '.gitattributes');
  // Git does not follow a symbolic link here either, and the written text comes from the repository.
  if (lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink()) {
    throw unsupported('.gitattributes is a symbolic link; git ignores it', {
      hint: 'replace it with a regular file',
    });
  }
  const present = existsSync(path) ? readFileSync(path, 'utf8') : '';
  const lines = new Set(present.split(/\r?\n/));
  const wanted = drivers.flatMap(({ name, patterns }) =>
    patterns.map((pattern) => `${inAttributes(pattern)} diff=${name} merge=${name}`),
  );
  const missing = [...new Set(wanted)].filter((line) => !lines.has(line));
  if (missing.length === 0) return;
  const gap = present === '' || present.endsWith('\n') ? '' : '\n';
  writeFileSync(path, `${present}${gap}${missing.join('\n')}\n`);
  session.say(`Wrote .gitattributes; commit it.`);
}

/** Quotes a pattern with spaces as git reads it. */
const inAttributes = (pattern: string): string =>
  /[\s"#]/.test(pattern) ? JSON.stringify(pattern) : pattern;

/**
 * Writes a hook. An existing hook is not changed; the user is told what to add. The same applies to a
 * hooks directory that other repositories share.
 * @see docs/decisions/0158
 */
function writeHook(session: Session, root: string, own: string, hook: Hook): void {
  const asked = (what: readonly string[]): string => {
    const answer = git(root, ['rev-parse', ...what]);
    if (answer === undefined) throw unavailable('cannot find the git hooks directory');
    return resolve(root, answer.toString().replace(/\n$/, ''));
  };
  const path = join(asked(['--git-path', 'hooks']), hook.name);
  const shown = relative(root, path);
  const line = `${own} ${hook.words}`;
  if (lstatSync(path, { throwIfNoEntry: false }) !== undefined) {
    if (existsSync(path) && runs(readFileSync(path, 'utf8'), hook.words)) return;
    session.warn(`${shown} already exists; add this line to it: ${hook.line(line)}`);
  } else if (![root, asked(['--git-common-dir'])].some((top) => liesBelow(top, dirname(path)))) {
    session.warn(
      `the hooks directory ${dirname(path)} is outside this repository and has no hook ${hook.name}; create an executable file ${hook.name} there, with the line "#!/bin/sh" and this one: ${hook.line(line)}`,
    );
  } else {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, `#!/bin/sh\n${hook.only(line)}\n`, { mode: EXECUTABLE, flag: 'wx' });
    session.say(`Wrote ${shown}.`);
  }
}

/** Returns the command line with which git's shell finds this program. */
function ownCommand({ environment }: Session): string {
  if (findProgram('coffer', environment).kind === 'program') return 'coffer';
  return [process.execPath, ...programAfterNode()].map(quoted).join(' ');
}

/**
 * Command of the post-merge hook: prints a line for each keyring of the repository that a merge has left unfinished. It
 * judges with what this machine knows and needs no private key, so it never asks. It stores nothing: what it would
 * learn is for the next command to tell. A keyring that cannot be judged is left to that command, too.
 */
export const merged: OwnCommand = {
  async run(session) {
    const root = resolve(workingTree('.', 'run it in the repository'));
    for (const folder of foldersWithKeyring(root)) {
      if (!isDue(session, folder, root)) continue;
      const where = relative(root, folder);
      session.streams.out.write(`${visible(where === '' ? WORK_IS_LEFT : `${where}: ${WORK_IS_LEFT}`)}\n`);
    }
  },
};

/** Returns the folders of a repository that have a keyring, as absolute paths. */
function foldersWithKeyring(root: string): readonly string[] {
  const folders = filesBelow(root)
    .filter((path) => basename(dirname(path)) === KEYRING && basename(path).startsWith('store.'))
    .map((path) => resolve(root, dirname(dirname(path))));
  return [...new Set(folders)];
}

function isDue(session: Session, folder: string, root: string): boolean {
  const place = placeIn(folder, root);
  const memory = new TeamMemory(session.environment);
  const store = memory.keyringAt(place.mark);
  if (store === undefined) return false;
  return unlessRefused(() => {
    const { facts } = loadFacts(place.directory);
    // Settling cannot restore a keyring that was replaced or destroyed: commands that use it say so.
    if (facts.get(store)?.kind !== 'store') return false;
    const state = judge(facts, store, signatureCheck(memory.verified(store)), memory.of(store).seen);
    const isIncomplete = state.holes.length > 0 || state.unseen.length > 0;
    return isIncomplete || isUnfinished(state) || state.cards.some((card) => isWaiting(state, card));
  }, false);
}
