import type { Token, TokenRecord } from '../../access/token.ts';
import { invalid } from '../../ground/errors.ts';
import { ownWords } from '../../ground/own-words.ts';
import type { Call, Caller } from '../declaration/operation.ts';
import { text } from '../declaration/params.ts';

/** A token found by what a caller gave for it. */
export interface Target {
  readonly record: TokenRecord;
  /** The token's text; empty when it was named by its accessor. */
  readonly id: string;
}

/** A token, given by itself; people who list tokens have accessors, which do as well. */
export const tokenId = (help: string) => text({ help, cli: { positional: true, metavar: 'ID' } });

export const accessorParam = text({ help: 'The accessor of the token.' });

/**
 * The token that an ID names. An accessor is taken in its place from those whose policies let them use
 * `byAccessor`, the path that is made for accessors.
 *
 * @throws `invalid` when no ID is given.
 */
export async function findToken(
  call: Call,
  id: string | undefined,
  byAccessor: string,
): Promise<Target | undefined> {
  if (id === undefined || id === '') throw invalid(ownWords('missing token ID'), { field: 'token' });
  const { tokens } = await call.core.access();
  const byText = await tokens.find(id);
  if (byText !== undefined) return { record: byText, id };
  const record = call.caller.may(byAccessor, 'update') ? await tokens.get(id) : undefined;
  return record === undefined ? undefined : { record, id: '' };
}

/** @throws `invalid` when the accessor is missing or no living token has it. */
export async function findByAccessor(call: Call, accessor: string | undefined): Promise<Target> {
  if (accessor === undefined || accessor === '')
    throw invalid(ownWords('missing accessor'), { field: 'accessor' });
  const record = await (await call.core.access()).tokens.get(accessor);
  if (record === undefined) throw invalid(ownWords('invalid accessor'), { field: 'accessor' });
  return { record, id: '' };
}

/**
 * The caller's own token, one whose last use is the present request included.
 * @throws `invalid` for the owner of the store, who has none.
 */
export async function findOwn(call: Call): Promise<Target> {
  const { accessor, token } = callingToken(call.caller);
  const { tokens } = await call.core.access();
  const record = accessor === '' ? await tokens.find(token) : await tokens.get(accessor);
  if (record === undefined) throw invalid(ownWords('token not found'));
  return { record, id: token };
}

/** @throws `invalid` for a batch token, which lies nowhere. */
export function refuseBatch({ kind }: Token, what: 'renewed' | 'revoked'): void {
  if (kind === 'batch') throw invalid(`batch tokens cannot be ${what}`, { field: 'token' });
}

export function callingToken(caller: Caller): { accessor: string; token: string } {
  const { accessor, token } = caller;
  if (accessor === undefined || token === undefined) {
    throw invalid(ownWords('missing token ID'), {
      field: 'token',
      hint: 'name a token; the owner of the store has none',
    });
  }
  return { accessor, token };
}
