import { unsupported } from '../../ground/errors.ts';
import { version } from '../../ground/version.ts';
import type { Core, SealStatus, ServerState } from '../declaration/operation.ts';

/** What anybody may ask of a server, sealed or not; the answer has no envelope. */
export const publicRead = {
  api: 'vault',
  capability: 'read',
  unauthenticated: true,
  whileSealed: true,
  bare: true,
  params: {},
} as const;

/** Outside a server a store that is there is open. */
export const sealStatusOf = async (core: Core): Promise<SealStatus> =>
  core.server?.sealStatus() ?? {
    sealed: false,
    threshold: 1,
    shares: 1,
    progress: 0,
    storeId: core.store.id,
  };

/** @throws `unsupported` outside a server. */
export function serverOf(core: Core): ServerState {
  if (core.server === undefined) {
    throw unsupported('only a server can do this', { hint: 'run it against "coffer serve"' });
  }
  return core.server;
}

/** The seal status in the words of the API. `version` must stay a semantic one: clients parse it. */
export const printSealStatus = (status: SealStatus) => ({
  type: 'shamir',
  initialized: true,
  sealed: status.sealed,
  t: status.threshold,
  n: status.shares,
  progress: status.progress,
  nonce: '',
  version,
  build_date: '',
  migration: false,
  cluster_name: 'coffer',
  cluster_id: status.storeId,
  recovery_seal: false,
  storage_type: 'file',
});
