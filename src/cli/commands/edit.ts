import { realpathSync } from 'node:fs';
import { resolve } from 'node:path';
import { asCofferError, attempt, CofferError, conflict, invalid } from '../../ground/errors.ts';
import { type Command, switching } from '../command.ts';
import { DraftFile } from '../editing/draft.ts';
import { type Editor, edit, editorOf, wouldBeVi } from '../editing/editor.ts';
import { Takeover, targetOf } from '../editing/takeover.ts';
import { DONE, FAILED, PROGRAM_NOT_FOUND } from '../exit-codes.ts';
import type { Given } from '../given.ts';
import { passOn } from '../processes/launch.ts';
import { remindOfGitSetup } from '../secret-files/clone-reminder.ts';
import type { Session } from '../session.ts';
import { shellWord } from '../terminal/shell-word.ts';

/**
 * Time in milliseconds below which the editor is assumed to have returned at once: no user reads a file and closes the
 * editor faster.
 */
const AT_ONCE_MS = 500;
/** Question after an editor that ended at once. The text is read after any answer. */
const STILL_OPEN =
  'The editor exited at once without changes. If its window is still open, save and close it, then answer yes. Continue?';

export const command: Command = {
  arguments: [{ metavar: 'FILE', help: 'File to edit: .env, YAML or JSON.', required: true, offers: 'file' }],
  options: [
    switching('resume', 'Continue with the text of an edit that failed or was interrupted.', {
      excludes: ['discard'],
    }),
    switching(
      'discard',
      'Delete the text of an edit that failed or was interrupted, and edit the file as it is.',
    ),
    switching(
      'on-disk',
      'Keep the plaintext in the temporary directory, on disk, if no in-memory file system exists.',
    ),
  ],
  details:
    'Opens the decrypted file in $VISUAL or $EDITOR and encrypts your changes. Unchanged values keep their ' +
    'ciphertext; new values are encrypted if .coffer.yaml says so. The plaintext is kept in memory (tmpfs), not ' +
    'on disk, unless --on-disk is used. If something fails, your text is kept, and the next edit of the file ' +
    'offers to continue with it. Files with git merge conflicts are shown with both sides decrypted.',
  examples: [
    ['coffer edit .env', 'Edit a file'],
    ['coffer edit --resume .env', 'Continue an edit that failed or was interrupted'],
  ],
  async run(session, given) {
    const [typed = ''] = given.arguments;
    const path = realPathOf(typed);
    const editor = editorOf(session.environment);
    const target = await targetOf(session, typed, path);
    const left = await leftText(session, given, typed, path);
    const draft = left ?? DraftFile.make(session.environment, path, given.options.has('on-disk'));
    try {
      const takeover = await Takeover.begin(session, target, draft.directory);
      refuseWithoutTerminal(session, target.name);
      if (left === undefined) draft.show(takeover.shown, takeover.base);
      const exitCode = await editUntilTaken(session, editor, draft, takeover);
      if (exitCode === DONE) await remindOfGitSetup(session, target.rulebook, [path]);
      return exitCode;
    } catch (error) {
      throw kept(error, draft, typed);
    }
  },
};

/** @throws `invalid` if vi would run without a terminal: a script would wait for it forever */
function refuseWithoutTerminal({ environment, streams }: Session, path: string): void {
  if (streams.in.isTerminal || !wouldBeVi(environment)) return;
  throw invalid('no editor is set, and standard input is not a terminal', {
    hint: `set EDITOR, or change one value with "coffer secrets set ${shellWord(path)} NAME"`,
  });
}

/**
 * Returns the text of an earlier edit, if it is to be continued.
 * @throws `conflict` if no option says what to do with it
 */
async function leftText(
  session: Session,
  { options }: Given,
  typed: string,
  path: string,
): Promise<DraftFile | undefined> {
  const left = DraftFile.kept(session.environment, path);
  if (left === undefined) return undefined;
  if (options.has('discard')) {
    left.remove();
    return undefined;
  }
  const goOn =
    options.has('resume') ||
    (session.prompts.available() &&
      (await session.prompts.confirm(`${typed} has an unsaved edit. Resume it?`)));
  if (goOn) return left;
  throw conflict(`${typed} has an unsaved edit: ${left.path}`, {
    hint: 'use --resume to continue the edit or --discard to delete it',
  });
}

const NO_EDITOR = ' (if it was not found, set EDITOR to the editor that you use)';

/** Runs the editor until its text can be taken over, or the user gives up. */
async function editUntilTaken(
  session: Session,
  editor: Editor,
  draft: DraftFile,
  takeover: Takeover,
): Promise<number> {
  for (;;) {
    const begun = performance.now();
    const ended = await edit(editor, draft.path, session.environment);
    const lasted = performance.now() - begun;
    if (ended.exitCode !== 0) {
      const changed = draft.isChanged();
      if (!changed) draft.remove();
      const how = ended.signal ?? `exit code ${ended.exitCode}`;
      const hint = ended.exitCode === PROGRAM_NOT_FOUND ? NO_EDITOR : '';
      session.fail(
        `the editor exited with ${how}; nothing was written${changed ? keptAt(draft) : ''}${hint}`,
      );
      passOn(ended);
      return FAILED;
    }
    try {
      if (lasted < AT_ONCE_MS && !draft.isChanged() && session.prompts.available())
        await session.prompts.confirm(STILL_OPEN);
      const outcome = await takeover.take(draft);
      if (outcome !== 'again') {
        draft.remove();
        session.say(outcome);
        return DONE;
      }
    } catch (error) {
      if (asCofferError(error) === undefined || !session.prompts.available()) throw error;
      session.fail(asCofferError(error)?.message ?? '');
      if (!(await session.prompts.confirm('Return to the editor?'))) throw error;
    }
  }
}

const keptAt = (draft: DraftFile): string => `; your changes are saved in ${draft.path}`;

/** Returns the error with the place of the saved text added. */
function kept(error: unknown, draft: DraftFile, typed: string): unknown {
  if (!draft.isChanged()) {
    draft.remove();
    return error;
  }
  const known = asCofferError(error);
  if (known === undefined) return error;
  const resume = `run "coffer edit --resume ${typed}" to continue`;
  return new CofferError(known.kind, `${known.message}${keptAt(draft)}`, {
    cause: error,
    hint: known.kind === 'denied' && known.hint !== undefined ? `${known.hint}; ${resume}` : resume,
  });
}

/** Returns the path of the file behind links. That file is written, and two edits of it are recognized by it. */
const realPathOf = (typed: string): string => attempt(() => realpathSync(typed)) ?? resolve(typed);
