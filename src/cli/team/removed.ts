import { type Fact, isCard } from '../../team/fact.ts';
import { hasLeft, type Judgement, nameOf } from '../../team/judge/judge.ts';
import { cardsFor } from '../../team/own-key.ts';
import type { PersonalKey } from '../secrets/identities.ts';

/**
 * Returns a hint for someone who was removed from a keyring, and whose keys therefore open nothing.
 * @returns undefined for members, and for those who never were one
 */
export function removedHint(state: Judgement, keys: readonly PersonalKey[]): string | undefined {
  if (keys.some((key) => cardsFor(key, state.cards).length > 0)) return undefined;
  const left = [...state.good.values()].filter(isCard).filter(({ id }) => hasLeft(state, id));
  const own = new Set(keys.flatMap((key) => cardsFor(key, left)).map(({ id }) => id));
  const isOwnRemoval = ({ without }: Fact): boolean => without.some(({ id }) => own.has(id));
  const removal = state.removals.findLast(isOwnRemoval);
  if (removal === undefined) return undefined;
  return `${nameOf(state, removal.by)} removed you from this keyring on ${removal.at.slice(0, 10)}; ask an admin to add you again`;
}
