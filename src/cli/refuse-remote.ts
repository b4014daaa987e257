import { invalid } from '../ground/errors.ts';
import type { Session } from './session.ts';

/** @throws `invalid` when a server is named: these commands work on the files of a store. */
export function refuseRemote(session: Session): void {
  if (session.settings.address === undefined) return;
  throw invalid('this works on a local store only', {
    hint: 'run it where the store is, without --address and COFFER_ADDR',
  });
}
