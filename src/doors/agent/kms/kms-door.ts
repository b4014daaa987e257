import { createHash, randomBytes } from 'node:crypto';
import type { Offer } from '../../../access/doors.ts';
import { denied, expected, unavailable } from '../../../ground/errors.ts';
import { isObject } from '../../../ground/objects.ts';
import { resultOf } from '../../../operations/declaration/operation.ts';
import type { OpenDoor } from '../agent-door.ts';
import { type Desk, memberOf, plaintextIn } from '../desk.ts';
import { grpcServer, type Methods } from '../grpc/grpc.ts';
import { bytesIn, field, parseFields } from '../grpc/protobuf.ts';

/*
 * KMS plugin API of Kubernetes (k8s.io/kms, apis/v2/api.proto). The API server requests encryption of one seed, and
 * again when the key ID in the status has changed.
 */

const PATH = '/v2.KeyManagementService';

/** StatusResponse */
const STATUS = { version: 1, healthz: 2, keyId: 3 } as const;
/** EncryptRequest and DecryptRequest */
const ASKED = { data: 1 } as const;
/** EncryptResponse */
const ENCRYPTED = { ciphertext: 1, keyId: 2 } as const;
/** DecryptResponse */
const DECRYPTED = { plaintext: 1 } as const;

const VERSION = 'v2';
const HEALTHY = 'ok';
const PROBE_BYTES = 32;

export const openKmsDoor: OpenDoor = (desk) => grpcServer(kmsMethods(desk), (error) => desk.defect(error));

export const kmsMethods = (desk: Desk): Methods => ({
  [`${PATH}/Status`]: () => status(desk),
  [`${PATH}/Encrypt`]: (message) => encrypt(desk, bytesIn(parseFields(message), ASKED.data)),
  [`${PATH}/Decrypt`]: (message) => decrypt(desk, bytesIn(parseFields(message), ASKED.data)),
});

/** Returns the status; healthy if a test encryption and decryption succeed. */
async function status(desk: Desk): Promise<Buffer> {
  let healthz = HEALTHY;
  let keyId = '';
  try {
    const probe = randomBytes(PROBE_BYTES);
    const sealed = await seal(desk, probe);
    keyId = sealed.keyId;
    const opened = await open(desk, sealed.ciphertext);
    if (!opened.equals(probe))
      throw unavailable('verification failed: decrypting the new ciphertext gave other data');
  } catch (error) {
    const known = expected(error);
    healthz = known.message;
  }
  return Buffer.concat([
    field(STATUS.version, VERSION),
    field(STATUS.healthz, healthz),
    field(STATUS.keyId, keyId),
  ]);
}

async function encrypt(desk: Desk, plaintext: Buffer): Promise<Buffer> {
  const { ciphertext, keyId } = await seal(desk, plaintext);
  return Buffer.concat([field(ENCRYPTED.ciphertext, ciphertext), field(ENCRYPTED.keyId, keyId)]);
}

const decrypt = async (desk: Desk, ciphertext: Buffer): Promise<Buffer> =>
  field(DECRYPTED.plaintext, await open(desk, ciphertext.toString('utf8')));

/** Encrypts with the latest version, so that the ID and the ciphertext always belong to the same one. */
async function seal(desk: Desk, plaintext: Buffer) {
  const { key: name, mount } = await offered(desk);
  const data = resultOf(await desk.run('transit keys read', { name }, mount));
  const version = isObject(data) ? Number(data['latest_version']) : Number.NaN;
  const keys = isObject(data) && isObject(data['keys']) ? data['keys'] : {};
  const made = keys[String(version)];
  if (made === undefined) throw unavailable('unexpected response about the key: it has no latest version');
  const raw = { name, plaintext: plaintext.toString('base64'), key_version: version };
  const ciphertext = memberOf(await desk.run('transit encrypt', raw, mount), 'ciphertext');
  return { ciphertext, keyId: keyIdOf([mount, name, version, createdAt(made)]) };
}

async function open(desk: Desk, ciphertext: string): Promise<Buffer> {
  const { key: name, mount } = await offered(desk);
  return plaintextIn(await desk.run('transit decrypt', { name, ciphertext }, mount));
}

/**
 * Computes the key ID. Kubernetes stores it in the clear next to encrypted data, so it reveals no name; and it never
 * equals that of another key, not even of one recreated with the same name.
 */
const keyIdOf = (parts: readonly (string | number)[]): string =>
  createHash('sha256').update(JSON.stringify(parts)).digest('base64url');

/** Returns the creation time of a version: the value itself for a symmetric key, a member for others. */
const createdAt = (version: unknown): string =>
  isObject(version) ? String(version['creation_time']) : String(version);

async function offered(desk: Desk): Promise<Offer> {
  const [offer] = await desk.offers();
  if (offer === undefined) throw denied('no key is offered to Kubernetes');
  return offer;
}
