import { type MaybePromise, withValue } from '../../ground/maybe-promise.ts';
import { type Declaration, type MountCall, type Operation, operation } from './operation.ts';
import type { Params } from './params.ts';

/**
 * Returns a function that declares operations of a mount type, whose handlers get what `prepare` adds to the call.
 * @param prepare rejects for a mount that does not exist
 */
export const operationsOf =
  <const Mount extends string, C extends MountCall>(
    mount: Mount,
    prepare: (call: MountCall) => MaybePromise<C>,
  ) =>
  <P extends Params, D>({
    exists,
    roleOf,
    run,
    ...declaration
  }: Declaration<P, D, Mount, C>): Operation<P, D, Mount> => {
    const prepared: Declaration<P, D, Mount, MountCall> = {
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
    return operation(prepared);
  };
