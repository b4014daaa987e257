import { invalid } from '../ground/errors.ts';
import type { Operation, Outcome } from '../operations/declaration/operation.ts';
import type { RawValues } from './files/operation-values.ts';
import type { VaultForm } from './files/vault-form.ts';
import type { Given } from './given.ts';
import { FIELD, FORMAT, SELF } from './parse/vault-options.ts';
import type { Session } from './session.ts';

/** What commands do with the options of Vault's command line. */

/** Whether the result is printed as `vault` does. */
export const isInVaultForm = ({ cli }: Operation, { options }: Given): boolean =>
  cli?.isOfVault === true && (options.has(FORMAT) || options.has(FIELD));

/** Returns an outcome as `vault` prints it; undefined if that is not requested. */
export async function formOf(
  session: Session,
  operation: Operation,
  outcome: Outcome<unknown> | undefined,
  given: Given,
): Promise<VaultForm | undefined> {
  if (outcome === undefined || !isInVaultForm(operation, given)) return undefined;
  const { vaultForm } = await import('./files/vault-form.ts');
  return vaultForm(session, outcome, given.options);
}

/**
 * Returns the operation to run instead: on the caller's own token, if `--self` asks for that or no other token is named.
 * @throws `invalid` if `--self` is used with a token
 */
export function insteadOf({ cli = {} }: Operation, raw: RawValues, given: Given): string | undefined {
  const { withoutParam, self } = cli;
  if (self !== undefined && given.options.has(SELF)) {
    if (given.arguments.length === 0) return self;
    throw invalid(`--${SELF} cannot be used with ID`, { hint: 'use only one of them' });
  }
  return withoutParam === undefined || raw[withoutParam.param] !== undefined ? undefined : withoutParam.run;
}
