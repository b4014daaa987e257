import type { WrapInfo } from '../../access/wrapping.ts';
import { isObject } from '../../ground/objects.ts';
import type { Operation, Outcome } from '../declaration/operation.ts';
import { printWrapped } from '../wrap-info.ts';
import type { PipelineRequest } from './admission.ts';
import type { Performed } from './asked-request.ts';
import type { Judge } from './judge.ts';

/**
 * Keeps an answer for the one who unwraps it, whatever operation gave it. What strangers can ask for stays open but for a login,
 * so that nobody without a token can have the store filled.
 * @returns where it can be had; undefined for an answer that is given openly.
 * @throws when it can't be kept: it must not be given openly in that case.
 * @see docs/decisions/0170
 */
export async function keepWrapped<A>(
  { guarded, asked, door, judge: { caller } }: PipelineRequest<A> & { readonly judge: Judge },
  { operation, outcome }: Performed,
  answer: A,
): Promise<WrapInfo | undefined> {
  const { wrapTtl, path, method } = asked;
  if (wrapTtl === undefined || outcome.wrapInfo !== undefined || outcome.nothingListed) return undefined;
  if (caller.isStranger && outcome.auth === undefined) return undefined;
  const kept = door.kept?.(answer);
  if (kept === undefined) return undefined;
  const held = heldAccessor(operation, outcome);
  return printWrapped(
    await guarded.access.wrapping.wrap({
      answer: kept,
      ttl: wrapTtl,
      path: method === 'LIST' ? `${path}/` : path,
      ...(held === '' ? {} : { heldAccessor: held }),
    }),
  );
}

/** The accessor of the token or secret ID in an answer; empty where there is none. Data of the caller's own tell of none. */
function heldAccessor({ freeForm }: Operation, { auth, data }: Outcome<unknown>): string {
  const secretId =
    !freeForm && isObject(data) && 'secret_id' in data ? data['secret_id_accessor'] : undefined;
  const accessor = isObject(auth) ? auth['accessor'] : secretId;
  return typeof accessor === 'string' ? accessor : '';
}
