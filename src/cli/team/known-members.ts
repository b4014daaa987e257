import type { CardFact } from '../../team/fact.ts';
import { loadFacts } from '../../team/files.ts';
import { judge } from '../../team/judge/judge.ts';
import { signatureCheck } from '../../team/signing.ts';
import type { Environment } from '../given.ts';
import { TeamMemory } from './memory.ts';
import { keyringAbove } from './place.ts';

/** Keyring of the working directory, as far as it is known without asking or remembering anything. */
interface KeyringInSight {
  /** ID of the keyring that is trusted on this machine; undefined if none is. */
  readonly id: string | undefined;
  /**
   * Returns the cards of its members.
   * @throws as `loadFacts` and `judge`
   */
  cards(): readonly CardFact[];
}

/** Returns the keyring that a command finds in the working directory; undefined without one. */
export function keyringInSight(environment: Environment): KeyringInSight | undefined {
  const memory = new TeamMemory(environment);
  const place = keyringAbove('.', (mark) => memory.keyringAt(mark) !== undefined);
  if (place === undefined) return undefined;
  const id = memory.keyringAt(place.mark);
  return {
    id,
    cards() {
      if (id === undefined) return [];
      const check = signatureCheck(memory.verified(id));
      return judge(loadFacts(place.directory).facts, id, check, memory.of(id).seen).cards;
    },
  };
}
