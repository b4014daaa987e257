import { basename, dirname, relative, resolve } from 'node:path';
import { asCofferError } from '../../ground/errors.ts';
import { KEYRING } from '../../team/directory.ts';
import { loadFacts } from '../../team/files.ts';
import { judge } from '../../team/judge/judge.ts';
import { signatureCheck } from '../../team/signing.ts';
import type { OwnCommand } from '../command.ts';
import { filesBelow, workingTree } from '../repository/git.ts';
import type { Session } from '../session.ts';
import { isUnfinished, isWaiting, WORK_IS_LEFT } from '../team/due.ts';
import { TeamMemory } from '../team/memory.ts';
import { placeIn } from '../team/place.ts';
import { visible } from '../terminal/visible.ts';

/**
 * Command of the post-merge hook: prints a line for each keyring of the repository that a merge has left unfinished. It
 * judges with what this machine knows and needs no private key, so it never asks. It stores nothing: what it would
 * learn is for the next command to tell. A keyring that cannot be judged is left to that command, too.
 */
export const command: OwnCommand = {
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
export function foldersWithKeyring(root: string): readonly string[] {
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
  try {
    const { facts } = loadFacts(place.directory);
    // Settling cannot restore a keyring that was replaced or destroyed: commands that use it say so.
    if (facts.get(store)?.kind !== 'store') return false;
    const state = judge(facts, store, signatureCheck(memory.verified(store)), memory.of(store).seen);
    const isIncomplete = state.holes.length > 0 || state.unseen.length > 0;
    return isIncomplete || isUnfinished(state) || state.cards.some((card) => isWaiting(state, card));
  } catch (error) {
    if (asCofferError(error) === undefined) throw error;
    return false;
  }
}
