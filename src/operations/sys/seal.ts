import { sourceOf } from '../../access/login/networks.ts';
import { LoginTurns } from '../../access/login/turns.ts';
import { invalid, ownWords, unsupported } from '../../ground/errors.ts';
import { familyVersion } from '../../ground/version.ts';
import { type Core, done, operation, type SealStatus, type ServerState } from '../declaration/operation.ts';
import { flag, hidden, integer, text } from '../declaration/params.ts';

/** Common settings of public operations of a server, sealed or not; the response has no envelope. */
export const publicRead = {
  withoutSecret: true,
  unauthenticated: true,
  whileSealed: true,
  bare: true,
} as const;

/**
 * Returns the seal status. Outside a server, an available store is unsealed.
 * @throws `unavailable` if the store cannot be read: an open store detects that at once
 */
async function sealStatusOf(core: Core): Promise<SealStatus> {
  const { id } = core.store;
  if (id !== '') await core.store.revision();
  return core.server?.sealStatus() ?? { sealed: false, threshold: 1, shares: 1, progress: 0, storeId: id };
}

/**
 * Returns the server.
 * @throws `unsupported` outside a server
 */
export function serverOf(core: Core): ServerState {
  if (core.server === undefined) {
    throw unsupported(ownWords('this operation is only supported by a server'), {
      hint: 'use --address or COFFER_ADDR to name a server',
    });
  }
  return core.server;
}

/** Formats the seal status in API terms. */
const printSealStatus = (status: SealStatus) => ({
  type: 'shamir',
  initialized: true,
  sealed: status.sealed,
  t: status.threshold,
  n: status.shares,
  progress: status.progress,
  nonce: '',
  version: familyVersion,
  build_date: '',
  migration: false,
  cluster_name: 'coffer',
  cluster_id: status.storeId,
  recovery_seal: false,
  storage_type: 'file',
});

export const sealStatus = operation({
  ...publicRead,
  route: 'GET /sys/seal-status',
  async run({ core }) {
    return { data: printSealStatus(await sealStatusOf(core)) };
  },
});

export const seal = operation({
  route: 'POST /sys/seal',
  capability: 'sudo',
  withoutSecret: true,
  run: done(({ core }) => serverOf(core).seal()),
});

/**
 * Queue for unseal attempts: a passphrase costs a tenth of a second, and anyone may submit them. A caller with the
 * right one waits for at most one attempt of each other source.
 */
const attempts = new LoginTurns({
  refusal: ownWords('too many unseal attempts at once'),
  atOnce: 1,
  most: 200,
  mostOfOne: 20,
});

export const unseal = operation({
  route: 'POST /sys/unseal',
  withoutSecret: true,
  unauthenticated: true,
  whileSealed: true,
  bare: true,
  params: {
    key: text({
      long: true,
      help: 'Master key, passphrase, contents of a key file, or one recovery share.',
    }),
    reset: flag({ help: 'Discard the recovery shares provided so far.', default: false }),
    migrate: flag(hidden('Accepted for compatibility; ignored.')),
  },
  async run({ core, remoteAddress = '' }, values) {
    const server = serverOf(core);
    if (values.reset) return { data: printSealStatus(await server.resetUnseal()) };
    const { key } = values;
    if (key === undefined || key === '') {
      throw invalid(ownWords("'key' must be specified in request body as JSON, or 'reset' set to true"), {
        field: 'key',
      });
    }
    const claim = { source: sourceOf(remoteAddress), name: '' };
    return { data: printSealStatus(await attempts.take(claim, () => server.unseal(key))) };
  },
});

const code = (situation: string) =>
  integer({ ...hidden(`HTTP status to return if the store is ${situation}.`), minimum: 200, maximum: 599 });
const accepted = flag(hidden('Accepted for compatibility; ignored.'));
const acceptedCode = integer(hidden('Accepted for compatibility; ignored.'));

const ACTIVE = 200;
const SEALED = 503;

export const health = operation({
  ...publicRead,
  route: 'GET /sys/health',
  params: {
    activecode: code('unsealed'),
    sealedcode: code('sealed'),
    uninitcode: acceptedCode,
    standbycode: acceptedCode,
    standbyok: accepted,
    perfstandbyok: accepted,
    drsecondarycode: acceptedCode,
    performancestandbycode: acceptedCode,
    haunhealthycode: acceptedCode,
    removedcode: acceptedCode,
  },
  async run({ core }, values) {
    const { sealed, storeId } = await sealStatusOf(core);
    return {
      statusCode: sealed ? (values.sealedcode ?? SEALED) : (values.activecode ?? ACTIVE),
      data: {
        initialized: true,
        sealed,
        standby: false,
        performance_standby: false,
        replication_performance_mode: 'disabled',
        replication_dr_mode: 'disabled',
        server_time_utc: Math.floor(core.clock.now() / 1000),
        version: familyVersion,
        cluster_name: 'coffer',
        cluster_id: storeId,
      },
    };
  },
});

/** Always initialized: a server only starts on an existing store. */
export const init = operation({
  ...publicRead,
  route: 'GET /sys/init',
  async run() {
    return { data: { initialized: true } };
  },
});

/** There is no leader: every process over a store answers requests itself. */
export const leader = operation({
  ...publicRead,
  route: 'GET /sys/leader',
  async run() {
    return {
      data: {
        ha_enabled: false,
        is_self: false,
        leader_address: '',
        leader_cluster_address: '',
        performance_standby: false,
      },
    };
  },
});
