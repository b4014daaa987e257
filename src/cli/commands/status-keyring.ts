import { spelled } from '../../team/names.ts';
import { sharingHint } from '../secret-files/ruled-files.ts';
import type { Session } from '../session.ts';
import { keyringInSight } from '../team/memory.ts';
import { keyringIdentities, ownCards } from '../team/own-keys.ts';

/**
 * Returns the keyring of the working directory, and the name of this user in it; an empty list without a keyring. Asks
 * nothing and remembers nothing, unlike the commands that use the keyring.
 */
export async function keyringFacts(session: Session): Promise<readonly (readonly [string, string])[]> {
  const keyring = keyringInSight(session.environment);
  if (keyring === undefined) return [];
  const { id } = keyring;
  if (id === undefined)
    return [
      [
        'Keyring',
        'not trusted on this machine: run "coffer team trust ID", with the ID that a colleague tells you',
      ],
    ];
  try {
    const cards = keyring.cards();
    const silent = session.askedThrough({ ...session.prompts, available: () => false });
    const { keys } = await keyringIdentities(silent);
    const [own] = ownCards(keys, cards);
    const who =
      own === undefined ? 'unknown: no member has one of your keys' : `${own.card.name} (${own.card.role})`;
    return [
      ['Keyring', spelled(id)],
      ['Member', who],
    ];
  } catch {
    // What is wrong with the keyring, the commands that use it tell in full.
    return [['Keyring', `${spelled(id)} (cannot be used: run "coffer team" to see why)`]];
  }
}

/** Returns the advice for a user without a store in a repository with a keyring, or with values of somebody's store. */
export async function storelessHint(session: Session): Promise<string | undefined> {
  const keyring = keyringInSight(session.environment);
  if (keyring === undefined) return sharingHint(session);
  const step =
    keyring.id === undefined
      ? 'run "coffer team trust ID", with the ID that a colleague tells you (see "coffer team --help")'
      : 'run "coffer team" to show it';
  return `the keyring of this repository needs no store: ${step}`;
}
