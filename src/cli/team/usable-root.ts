import { denied } from '../../ground/errors.ts';
import { nameOf } from '../../team/judge/judge.ts';
import type { TeamKeyring } from './keyring.ts';
import { removedHint } from './removed.ts';

/**
 * Returns a root key to encrypt with, or to give to another person.
 * @throws `denied` if this person cannot open it, or if its author could only sign
 */
export async function usableRoot(
  {
    roots,
    state,
    identities,
  }: Pick<TeamKeyring, 'roots' | 'state'> & Partial<Pick<TeamKeyring, 'identities'>>,
  epoch: string,
): Promise<Buffer> {
  const root = await roots.open(epoch);
  const fact = state.facts.get(epoch);
  if (root === undefined) {
    throw denied(`none of your keys opens .coffer/${fact?.path ?? epoch}`, {
      hint: removedHint(state, identities?.keys ?? []) ?? 'an admin must run "coffer team settle"',
    });
  }
  if (await roots.isSighted(epoch)) return root;
  const author = nameOf(state, fact?.by ?? '');
  throw denied(
    `.coffer/${fact?.path} was signed as ${author} without access to the keys, e.g. through a forwarded agent: refusing to encrypt with it`,
    { hint: 'remove this member with "coffer team remove NAME", which replaces all keys' },
  );
}
