import { createPublicKey, type KeyObject } from 'node:crypto';
import { policiesHint } from '../../client/answer.ts';
import { CofferError, conflict, notFound, refusedAs, unavailable, unsupported } from '../../ground/errors.ts';
import { isObject, type JsonObject } from '../../ground/objects.ts';
import { DEFAULT_MOUNT } from '../../mounts/paths.ts';
import { type Runner, resultOf } from '../../operations/declaration/operation.ts';
import { recipientKey } from '../../transit/key-types/recipient-key.ts';

/** Public key of one version of a named key. */
export interface PublicVersion {
  readonly number: number;
  /**
   * Public key.
   * @throws `unsupported` for an age recipient without another form
   */
  readonly key: KeyObject;
  /** Recipient, `age1…`, if others can encrypt to the key. */
  readonly recipient?: string;
  /** Creation time, in milliseconds since 1970. */
  readonly createdAt: number;
}

/**
 * Returns the public keys of a key, ordered by version.
 * @param check throws if the key, as it is read, may not be used
 * @throws `not-found` if it does not exist; `unsupported` if it has no public keys without a context
 */
export async function publicVersions(
  runner: Runner,
  name: string,
  mount?: string,
  check?: (key: JsonObject) => void,
): Promise<readonly PublicVersion[]> {
  const data = resultOf(await runner.run('transit keys read', { name }, mount));
  if (isObject(data)) check?.(data);
  const versions = isObject(data) && isObject(data['keys']) ? Object.entries(data['keys']) : [];
  const found = versions.flatMap(([number, version]) => {
    const text = isObject(version) ? version['public_key'] : undefined;
    if (!isObject(version) || typeof text !== 'string' || text === '') return [];
    const createdAt = Date.parse(String(version['creation_time']));
    if (!/^[1-9]\d{0,8}$/.test(number) || Number.isNaN(createdAt)) throw nonsense('an invalid version');
    return [publicVersion(Number(number), text, createdAt)];
  });
  if (found.length > 0) return found.sort((one, other) => one.number - other.number);
  throw unsupported(`${name} has no public key`, {
    field: 'key',
    hint: 'use a key that has one; "coffer transit keys create NAME --type ed25519" creates one',
  });
}

/**
 * Refuses a soft-deleted key, as the operations on signatures do.
 * @throws `conflict`
 */
export function requireInUse({ name, soft_deleted: isDeleted }: JsonObject): void {
  if (isDeleted !== true) return;
  throw conflict('refusing to use soft-deleted key', {
    field: 'key',
    hint: `restore it first with "coffer transit keys soft-delete-restore ${name}"`,
  });
}

/** Names the versions of a key that verify nothing any more, as the end of a sentence; undefined if there are none. */
export function unusableVersions({ name, ...key }: JsonObject): string | undefined {
  const first = Number(key['min_decryption_version']);
  const revoked = Array.isArray(key['revoked_versions']) ? key['revoked_versions'].join(', ') : '';
  const unusable = [
    ...(revoked === '' ? [] : [`revoked (${revoked})`]),
    ...(first > 1 ? [`older than its min_decryption_version, ${first}`] : []),
  ];
  return unusable.length === 0 ? undefined : `, or a version of ${name} that is ${unusable.join(' or ')}`;
}

/** Returns the error for a malformed response of a server. */
const nonsense = (what: string, cause?: unknown): CofferError =>
  unavailable(`unexpected response about the key: ${what}`, { cause });

function publicVersion(number: number, text: string, createdAt: number): PublicVersion {
  if (!text.startsWith('age1')) return { number, key: shownKey(text), createdAt };
  return {
    number,
    recipient: text,
    createdAt,
    get key() {
      return recipientKey(text);
    },
  };
}

/** Parses a public key as key read shows it: PEM, or raw bytes in base64, as in Vault. */
function shownKey(text: string): KeyObject {
  try {
    if (text.startsWith('-----')) return createPublicKey(text);
    const x = Buffer.from(text, 'base64').toString('base64url');
    return createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x }, format: 'jwk' });
  } catch (error) {
    throw nonsense('an invalid public key', error);
  }
}

/**
 * Returns one version.
 * @param number version number; undefined for the latest
 * @throws `not-found` if it does not exist
 */
export function versionOf(versions: readonly PublicVersion[], number: number | undefined): PublicVersion {
  const found =
    number === undefined ? versions.at(-1) : versions.find((version) => version.number === number);
  if (found !== undefined) return found;
  throw notFound(`the key has no usable version ${number}`, { field: 'key-version' });
}

/** One version of a named key that signs where the key is stored. */
export interface Signer {
  readonly version: PublicVersion;
  /**
   * Signs data.
   * @param how further parameters of `transit sign`
   * @returns bytes of the signature
   */
  sign(data: Uint8Array, how: Readonly<Record<string, unknown>>): Promise<Buffer>;
  /**
   * Asks a server whether signing is allowed. If it does not tell, signing will.
   * @throws `denied` if the token may not sign
   */
  requirePermission(): Promise<void>;
}

/**
 * Returns the signer of one version.
 * @param number version number; undefined for the latest
 * @throws as {@link publicVersions}
 */
export async function signerOf(
  runner: Runner,
  name: string,
  number: number | undefined,
  mount?: string,
): Promise<Signer> {
  const version = versionOf(await publicVersions(runner, name, mount), number);
  return {
    version,
    async sign(data, how) {
      const raw = { name, input: Buffer.from(data).toString('base64'), key_version: version.number, ...how };
      const answer = resultOf(await runner.run('transit sign', raw, mount));
      const signature = isObject(answer)
        ? /^[^:]+:v(\d+):([\w+/-]+={0,2})$/.exec(String(answer['signature']))
        : null;
      const [, by, text] = signature ?? [];
      if (text === undefined) throw unavailable('unexpected response of the server: it has no signature');
      if (Number(by) !== version.number)
        throw unavailable(`unexpected response: signed with version ${by} of the key, not ${version.number}`);
      return Buffer.from(text, 'base64');
    },
    requirePermission: () => requireUpdate(runner, `${mount ?? DEFAULT_MOUNT}/sign/${name}`),
  };
}

const SIGNING = ['root', 'update', 'create'];

async function requireUpdate(runner: Runner, path: string): Promise<void> {
  const answer = await runner.run('sys capabilities-self', { paths: [path] }).catch(refusedAs(undefined));
  const capabilities = isObject(answer?.data) ? answer.data['capabilities'] : undefined;
  if (!Array.isArray(capabilities) || SIGNING.some((known) => capabilities.includes(known))) return;
  throw new CofferError('denied', 'permission denied', {
    hint: policiesHint('"update"', path),
  });
}
