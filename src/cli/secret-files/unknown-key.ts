import { asCofferError, type CofferError, notFound } from '../../ground/errors.ts';
import { meantText } from '../../ground/nearness.ts';
import type { Runner } from '../../operations/declaration/operation.ts';
import type { KeyReference } from '../../transit/envelope/ports.ts';
import { existingNear } from '../near-names.ts';
import { insteadOfRecipient } from '../parse/foreign.ts';
import type { Session } from '../session.ts';

/* Errors about a key that does not exist. Loaded after the mistake, because no other command needs the code. */

const OF_RULE = 'correct the name in the rule, or check that this is the right store';
const OF_USER = 'otherwise check that this is the right store';

/** Key that is missing. */
interface WantedKey extends KeyReference {
  /** Whether the name is that of a rule. */
  readonly isOfRule?: boolean;
  /** File whose values were to be encrypted with it. */
  readonly path?: string | undefined;
}

/** Returns the error for a missing key with a hint; undefined for any other error. */
export function missingKey(
  error: unknown,
  { mount, name }: KeyReference,
  hint: string,
): CofferError | undefined {
  if (asCofferError(error)?.kind !== 'not-found') return undefined;
  return notFound(`no key "${name}" in mount "${mount}"`, { hint, cause: error });
}

/** Returns the error for a missing key that is a recipient; undefined for any other. */
export function recipientAsKey(
  error: unknown,
  { name, path = 'FILE' }: Pick<WantedKey, 'name' | 'path'>,
): CofferError | undefined {
  const hint = asCofferError(error)?.kind === 'not-found' ? insteadOfRecipient(name, path, true) : undefined;
  return hint === undefined ? undefined : notFound(`no key "${name}"`, { hint, cause: error });
}

/** Returns the error for a missing key to encrypt with, which names a similar one: it may be misspelt. */
export async function unknownKey(
  session: Session,
  runner: Runner,
  error: unknown,
  { isOfRule, path, ...key }: WantedKey,
): Promise<CofferError | undefined> {
  const ofRecipient = recipientAsKey(error, { name: key.name, path });
  if (ofRecipient !== undefined) return ofRecipient;
  const create = `check that this is the right store, or run "coffer transit keys create ${key.name}"`;
  const missing = missingKey(error, key, create);
  if (missing === undefined) return undefined;
  const near = await existingNear(session, runner, { kind: 'key', ...key });
  return near.length === 0
    ? missing
    : missingKey(error, key, `${meantText(near)} ${isOfRule === true ? OF_RULE : OF_USER}`);
}
