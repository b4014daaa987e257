import type { WrapInfo, WrappedAnswer } from '../../access/wrapping.ts';
import { printGoTime } from '../../ground/clock.ts';
import { isObject } from '../../ground/objects.ts';
import type { Operation, Outcome } from '../declaration/operation.ts';
import type { PipelineRequest } from './admission.ts';
import type { Performed } from './asked-request.ts';
import type { Judge } from './judge.ts';

/**
 * Stores the answer of any operation for the caller who unwraps it. Responses to unauthenticated requests are not
 * wrapped, except for logins, so that they cannot fill the store.
 * @returns wrapping information; undefined for an answer that is not wrapped
 * @throws if it cannot be stored; it must not be returned unwrapped in that case
 * @see docs/decisions/0170
 */
export async function keepWrapped<A>(
  { guarded, asked, door, judge: { caller } }: PipelineRequest<A> & { readonly judge: Judge },
  { operation, outcome }: Performed,
  answer: A,
): Promise<WrapInfo | undefined> {
  const { wrapTtl, endpoint } = asked;
  if (wrapTtl === undefined || outcome.wrapInfo !== undefined || outcome.nothingListed) return undefined;
  if (caller.isStranger && outcome.auth === undefined) return undefined;
  const kept = door.kept?.(answer);
  if (kept === undefined) return undefined;
  const held = heldAccessor(operation, outcome);
  return printWrapped(
    await guarded.access.wrapping.wrap({
      answer: kept,
      ttl: wrapTtl,
      path: endpoint.method === 'LIST' ? `${endpoint.path}/` : endpoint.path,
      heldAccessor: held === '' ? undefined : held,
    }),
  );
}

/**
 * Returns the accessor of the token or secret ID in an answer; empty if there is none. Members of free-form data are
 * not accessors.
 */
function heldAccessor({ freeForm }: Operation, { auth, data }: Outcome<unknown>): string {
  const secretId =
    !freeForm && isObject(data) && 'secret_id' in data ? data['secret_id_accessor'] : undefined;
  const accessor = isObject(auth) ? auth['accessor'] : secretId;
  return typeof accessor === 'string' ? accessor : '';
}

/** Formats wrapping information for the API. */
export const printWrapped = ({ text, accessor, token, heldAccessor }: WrappedAnswer): WrapInfo => ({
  token: text,
  accessor,
  ttl: token.creationTtl,
  creation_time: printGoTime(token.createdMs),
  creation_path: token.path,
  wrapped_accessor: heldAccessor,
});
