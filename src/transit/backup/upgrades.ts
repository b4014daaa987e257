import type { Random } from '../../ground/random.ts';
import type { BackupDocument, BackupEntry, BackupPolicy } from './document.ts';
import { GO_ZERO_TIME } from './go-time.ts';

const HMAC_KEY_BYTES = 32;
const CALLER_NONCES = 1;

/**
 * What peers repair when they load a key that an old release wrote; done before the checks, so that old backups pass them.
 */
export function upgradedBackup(document: BackupDocument, random: Random): BackupDocument {
  const policy = withHmacKey(withVersions(withNumberedKey(document.policy)), random);
  return { ...document, policy };
}

/** From before there were versions: the only key becomes version 1. */
function withNumberedKey(policy: BackupPolicy): BackupPolicy {
  const { key, ...rest } = policy;
  if (key === undefined) return policy;
  const entry: BackupEntry = {
    key,
    time: GO_ZERO_TIME,
    convergentVersion: 0,
    creationTime: 0,
    externalKeyRef: '',
    managedKeyId: '',
  };
  return { ...rest, keys: new Map([['1', entry]]) };
}

function withVersions(policy: BackupPolicy): BackupPolicy {
  const { convergentEncryption, convergentVersion } = policy;
  const latestVersion = policy.latestVersion === 0 ? policy.keys.size : policy.latestVersion;
  return {
    ...policy,
    latestVersion,
    minDecryptionVersion: policy.minDecryptionVersion === 0 ? 1 : policy.minDecryptionVersion,
    convergentVersion: convergentEncryption && convergentVersion === 0 ? CALLER_NONCES : convergentVersion,
  };
}

/** Only the latest version gets one; older ones never made an HMAC. */
function withHmacKey(policy: BackupPolicy, random: Random): BackupPolicy {
  const number = String(policy.latestVersion);
  const latest = policy.keys.get(number);
  if (latest === undefined || latest.hmacKey !== undefined || policy.keySize > 0) return policy;
  const entry = { ...latest, hmacKey: random.bytes(HMAC_KEY_BYTES) };
  return { ...policy, keys: new Map(policy.keys).set(number, entry) };
}
