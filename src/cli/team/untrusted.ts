import { type CofferError, denied } from '../../ground/errors.ts';
import type { Loaded } from '../../team/files.ts';
import { spelled } from '../../team/names.ts';
import type { TeamMemory } from './memory.ts';

export const ASK =
  'ask a colleague for the ID, in person or by chat, not through the repository, and run "coffer team trust ID"';

/**
 * Returns the error about a keyring that is not trusted in this clone. A clone that was moved or copied may have nobody
 * to ask: an ID that this machine trusts elsewhere is told, because no attacker can choose it.
 * @param how its `missing` is what a pipeline lacks
 */
export function untrusted(
  facts: Loaded['facts'],
  { memory, missing }: { readonly memory: TeamMemory; readonly missing: string | undefined },
): CofferError {
  const what = 'this keyring is not trusted on this machine yet';
  if (missing !== undefined) return denied(what, { hint: missing });
  for (const { id, kind } of facts.values()) {
    const [other] = kind === 'store' ? memory.placesOf(id) : [];
    if (other === undefined) continue;
    return denied(what, {
      hint: `this machine trusts the keyring with this ID in ${other}: if this is a copy of that clone, or the clone was moved here, run "coffer team trust ${spelled(id)}"; otherwise, ask a colleague for the ID, in person or by chat`,
    });
  }
  return denied(what, { hint: ASK });
}
