import type { Access } from '../../access/access.ts';
import { type MaybePromise, withValue } from '../../ground/maybe-promise.ts';
import { type Call, type CallOf, type Declaration, type Operation, operation } from './operation.ts';
import type { NoParams, Params } from './params.ts';

/**
 * Returns a function that declares operations of a mount type (undefined: of none), whose handlers get what `prepare`
 * adds to the call.
 * @param prepare rejects for a mount that does not exist
 * @param declare declares an operation of the API
 */
export const operationsOf =
  <const Mount extends string | undefined, C extends Call>(
    mount: Mount,
    prepare: (call: CallOf<Mount>) => MaybePromise<C>,
    declare = operation,
  ) =>
  <D, P extends Params = NoParams>({
    exists,
    roleOf,
    run,
    ...declaration
  }: Declaration<P, D, Mount, C>): Operation<P, D, Mount> => {
    const prepared: Declaration<P, D, Mount> = {
      ...declaration,
      mount,
      run(call, values) {
        const ready = prepare(call);
        return ready instanceof Promise ? ready.then((later) => run(later, values)) : run(ready, values);
      },
    };
    if (exists !== undefined) {
      prepared.exists = (call, values) => withValue(prepare(call), (ready) => exists(ready, values));
    }
    if (roleOf !== undefined) {
      prepared.roleOf = (call, values) => withValue(prepare(call), (ready) => roleOf(ready, values));
    }
    return declare(prepared);
  };

export interface AccessCall extends Call {
  readonly access: Access;
}

/** Declares an operation on tokens, policies and the like. */
export const accessOperation = operationsOf(
  undefined,
  async (call): Promise<AccessCall> => ({ ...call, access: await call.core.access() }),
);
