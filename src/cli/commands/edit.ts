import { realpathSync } from 'node:fs';
import { resolve } from 'node:path';
import { asCofferError, CofferError, conflict } from '../../ground/errors.ts';
import type { Command } from '../command.ts';
import { Draft } from '../editing/draft.ts';
import { type Editor, edit, editorOf } from '../editing/editor.ts';
import { Takeover } from '../editing/takeover.ts';
import { targetOf } from '../editing/target.ts';
import { DONE, FAILED } from '../exit-codes.ts';
import type { Given } from '../given.ts';
import { switching } from '../parse/everywhere.ts';
import { passOn } from '../processes/launch.ts';
import type { Session } from '../session.ts';

/**
 * Time in milliseconds below which the editor is assumed to have returned at once: no user reads a file and closes the
 * editor faster.
 */
const AT_ONCE_MS = 500;
/** Question after an editor that ended at once. The text is read after any answer. */
const STILL_OPEN =
  'The editor ended at once, and nothing was changed. Is its window still open? Save and close it, then say yes.';

export const command: Command = {
  arguments: [{ metavar: 'FILE', help: 'The file, .env, YAML or JSON.', required: true, offers: 'file' }],
  options: [
    { ...switching('resume', 'Go on with the text that an earlier edit left.'), excludes: ['discard'] },
    switching('discard', 'Drop the text that an earlier edit left, and begin anew.'),
    switching('on-disk', 'Where there is no file system in memory: use the temporary directory.'),
  ],
  details:
    'Shows the decrypted file in $VISUAL or $EDITOR, and encrypts what was changed: a value that is as it was keeps its ' +
    'ciphertext, a new one is encrypted if .coffer.yaml wants it. The plaintext is in memory, never on a disk. When ' +
    'something fails, your text stays there, and the next edit of the file offers it. A file that git could not merge is shown ' +
    'with both sides decrypted.',
  examples: [
    ['coffer edit .env', 'Change values of a file'],
    ['coffer edit --resume .env', 'Go on with what an edit could not write'],
  ],
  async run(session, given) {
    const [typed = ''] = given.arguments;
    const path = realPathOf(typed);
    const editor = editorOf(session.environment);
    const target = await targetOf(session, typed, path);
    const left = await leftText(session, given, typed, path);
    const draft = left ?? Draft.make(session.environment, path, given.options.has('on-disk'));
    try {
      const takeover = await Takeover.begin(session, target, draft.directory);
      if (left === undefined) draft.show(takeover.shown, takeover.base);
      return await editUntilTaken(session, editor, draft, takeover);
    } catch (error) {
      throw kept(error, draft, typed);
    }
  },
};

/**
 * Returns the text of an earlier edit, if it is to be continued.
 * @throws `conflict` if no option says what to do with it
 */
async function leftText(
  session: Session,
  { options }: Given,
  typed: string,
  path: string,
): Promise<Draft | undefined> {
  const left = Draft.kept(session.environment, path);
  if (left === undefined) return undefined;
  if (options.has('discard')) {
    left.remove();
    return undefined;
  }
  const goOn =
    options.has('resume') ||
    (session.prompts.available() &&
      (await session.prompts.confirm(
        `An edit of ${typed} left a text that is not in the file. Go on with it?`,
      )));
  if (goOn) return left;
  throw conflict(`an edit of ${typed} left a text that is not in the file: ${left.path}`, {
    hint: 'say --resume to go on with it, or --discard to drop it',
  });
}

/** Runs the editor until its text can be taken over, or the user gives up. */
async function editUntilTaken(
  session: Session,
  editor: Editor,
  draft: Draft,
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
      session.fail(`the editor ended with ${how}, and nothing was written${changed ? keptAt(draft) : ''}`);
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
      if (!(await session.prompts.confirm('Back to the editor?'))) throw error;
    }
  }
}

const keptAt = (draft: Draft): string => `; your text is kept in ${draft.path}`;

/** Returns the error with the place of the saved text added. */
function kept(error: unknown, draft: Draft, typed: string): unknown {
  if (!draft.isChanged()) {
    draft.remove();
    return error;
  }
  const known = asCofferError(error);
  if (known === undefined) return error;
  return new CofferError(known.kind, `${known.message}${keptAt(draft)}`, {
    cause: error,
    hint: `go on with "coffer edit --resume ${typed}"`,
  });
}

/** Returns the path of the file behind links. That file is written, and two edits of it are recognized by it. */
function realPathOf(typed: string): string {
  try {
    return realpathSync(typed);
  } catch {
    return resolve(typed);
  }
}
