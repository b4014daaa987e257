import { loadFacts } from '../../team/files.ts';
import { judge } from '../../team/judge/judge.ts';
import { spelled } from '../../team/names.ts';
import { signatureCheck } from '../../team/signing.ts';
import type { Session } from '../session.ts';
import { TeamMemory } from '../team/memory.ts';
import { keyringIdentities, ownCards } from '../team/own-keys.ts';
import { keyringAbove } from '../team/place.ts';

/**
 * Returns the keyring of the working directory, and the name of this user in it; an empty list without a keyring. Asks
 * nothing and remembers nothing, unlike the commands that use the keyring.
 */
export async function keyringFacts(session: Session): Promise<readonly (readonly [string, string])[]> {
  const memory = new TeamMemory(session.environment);
  const place = keyringAbove('.', (mark) => memory.keyringAt(mark) !== undefined);
  if (place === undefined) return [];
  const known = memory.keyringAt(place.mark);
  if (known === undefined)
    return [
      ['Keyring', 'not trusted on this machine: run "coffer team trust ID", with the ID of a colleague'],
    ];
  try {
    const { facts } = loadFacts(place.directory);
    const { seen } = memory.of(known);
    const { cards } = judge(facts, known, signatureCheck(memory.verified(known)), seen);
    const silent = session.askedThrough({ ...session.prompts, available: () => false });
    const { keys } = await keyringIdentities(silent);
    const [own] = ownCards(keys, cards);
    const who =
      own === undefined ? 'unknown: no member has one of your keys' : `${own.card.name} (${own.card.role})`;
    return [
      ['Keyring', spelled(known)],
      ['Member', who],
    ];
  } catch {
    // What is wrong with the keyring, the commands that use it tell in full.
    return [['Keyring', `${spelled(known)}, which cannot be used: run "coffer team"`]];
  }
}
