import type { Token, TokenRecord } from '../../access/token.ts';
import { type CofferError, invalid, ownWords } from '../../ground/errors.ts';
import type { AccessCall } from '../declaration/mount-operations.ts';
import type { Caller } from '../declaration/operation.ts';
import { text } from '../declaration/params.ts';

/** Token that a caller referred to. */
export interface TokenTarget {
  readonly record: TokenRecord;
  /** Token text; empty if it was named by its accessor. */
  readonly id: string;
}

/** Parameter for a token, given by its text; an accessor is accepted as well, because lists contain accessors. */
export const tokenId = (help: string) => text({ help, cli: { positional: true, metavar: 'ID' } });

export const accessorParam = text({ help: 'Accessor of the token.' });

/**
 * Finds the token that an ID names. An accessor is accepted instead from callers whose policies allow `byAccessor`, the
 * path for accessors.
 *
 * @throws `invalid` if no ID is given
 */
export async function findToken(
  call: AccessCall,
  id: string | undefined,
  byAccessor: string,
): Promise<TokenTarget | undefined> {
  if (id === undefined || id === '') throw missingId();
  const byText = await call.access.tokens.find(id);
  if (byText !== undefined) return { record: byText, id };
  const record = call.caller.may(byAccessor, 'update') ? await call.access.tokens.get(id) : undefined;
  return record === undefined ? undefined : { record, id: '' };
}

export const missingId = (): CofferError => invalid(ownWords('missing token ID'), { field: 'token' });

/**
 * Finds a token by its accessor.
 * @throws `invalid` if the accessor is missing or not that of a valid token
 */
export async function findByAccessor(call: AccessCall, accessor: string | undefined): Promise<TokenTarget> {
  if (accessor === undefined || accessor === '')
    throw invalid(ownWords('missing accessor'), { field: 'accessor' });
  const record = await call.access.tokens.get(accessor);
  if (record === undefined) throw invalid(ownWords('invalid accessor'), { field: 'accessor' });
  return { record, id: '' };
}

/**
 * Finds the caller's own token, including one whose last use is the current request.
 * @throws `invalid` for the owner of the store, who has none
 */
export async function findOwn(call: AccessCall): Promise<TokenTarget> {
  const { accessor, token } = callingToken(call.caller);
  const record =
    accessor === '' ? await call.access.tokens.find(token) : await call.access.tokens.get(accessor);
  if (record === undefined) throw invalid(ownWords('token not found'));
  return { record, id: token };
}

/**
 * Refuses batch tokens, which are not stored.
 * @throws `invalid`
 */
export function refuseBatch({ kind }: Token, what: 'renewed' | 'revoked'): void {
  if (kind === 'batch') throw invalid(`batch tokens cannot be ${what}`, { field: 'token' });
}

export function callingToken(caller: Caller): { accessor: string; token: string } {
  const { accessor, token } = caller;
  if (accessor === undefined || token === undefined) {
    throw invalid(ownWords('missing token ID'), {
      field: 'token',
      hint: 'commands on a local store run without a token: give the ID of a token',
    });
  }
  return { accessor, token };
}
