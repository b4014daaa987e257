import { type KeyObject, randomBytes, scrypt, timingSafeEqual } from 'node:crypto';
import type { Duplex } from 'node:stream';
import { promisify } from 'node:util';
import { FORWARDED_USE, type Offer } from '../../../access/doors.ts';
import { asCofferError, attempt, denied, unavailable, unsupported } from '../../../ground/errors.ts';
import { isObject } from '../../../ground/objects.ts';
import { pause } from '../../../ground/pause.ts';
import { resultOf } from '../../../operations/declaration/operation.ts';
import { takeMessage } from '../../../signatures/ssh-agent-messages.ts';
import { sshBlob } from '../../../signatures/ssh-key.ts';
import {
  printWireSignature,
  sshSigning,
  verifyWireSignature,
  wireSignatureOf,
} from '../../../signatures/ssh-signature.ts';
import type { OpenDoor } from '../agent-door.ts';
import { answerInTurn, hungUpSignal } from '../connections.ts';
import { type Desk, keyNameOf, signatureIn } from '../desk.ts';
import { PublicKeys } from '../public-keys.ts';
import { SessionBindings, type SshSignedData, signedDataOf } from './bindings.ts';
import {
  type AgentRequest,
  extensionFailure,
  failure,
  identitiesAnswer,
  parseAgentRequest,
  queryAnswer,
  type SshIdentity,
  signAnswer,
  success,
} from './messages.ts';

/** Version of an offered key. */
interface OfferedVersion extends SshIdentity {
  readonly offer: Offer;
  readonly version: number;
  readonly key: KeyObject;
}

/** Keys that are offered, as they were found last. */
interface Listing {
  readonly versions: readonly OfferedVersion[];
  readonly byBlob: ReadonlyMap<string, OfferedVersion>;
  /** Message that lists all of them. */
  readonly answer: Buffer;
}

const NOTHING: readonly OfferedVersion[] = [];

/** Versions of offered keys. */
export class OfferedVersions {
  readonly #desk: Desk;
  readonly #keys = new PublicKeys();
  /** What was found in the versions that a desk returned: they are the same object while the key has not changed. */
  readonly #read = new WeakMap<object, { readonly of: Offer; readonly found: readonly OfferedVersion[] }>();
  #found: readonly (readonly OfferedVersion[])[] = [];
  last: Listing = listingOf([]);

  constructor(desk: Desk) {
    this.#desk = desk;
  }

  /**
   * Lists every version of offered keys that can still sign: first the latest of each key, because servers count
   * attempts; then the earlier ones. Missing and currently unavailable keys are omitted.
   * @throws `sealed`, `unavailable` if nothing can be read
   */
  async list(offers: readonly Offer[]): Promise<Listing> {
    const all = await Promise.all(offers.map((offer) => this.#versionsOf(offer)));
    if (all.length !== this.#found.length || all.some((found, at) => found !== this.#found[at])) {
      this.#found = all;
      this.last = listingOf(all);
    }
    return this.last;
  }

  /** Returns the versions of a key, latest first. */
  async #versionsOf(offer: Offer): Promise<readonly OfferedVersion[]> {
    let data: unknown;
    try {
      data = resultOf(await this.#desk.run('transit keys read', { name: offer.key }, offer.mount));
    } catch (error) {
      if (KEY_ERRORS.has(asCofferError(error)?.kind ?? '')) return NOTHING;
      throw error;
    }
    if (!isObject(data) || !isObject(data['keys'])) return NOTHING;
    if (data['derived'] === true || data['soft_deleted'] === true) return NOTHING;
    const read = this.#read.get(data['keys']);
    if (read?.of === offer) return read.found;
    const least = Number(data['min_encryption_version']) || 0;
    const latest = Number(data['latest_version']);
    const found = Object.entries(data['keys'])
      .map(([number, version]) => [Number(number), version] as const)
      .filter(([number]) => number >= least)
      .sort(([one], [other]) => other - one)
      .flatMap(([number, version]) => {
        const key = isObject(version) ? this.#keys.read(version['public_key']) : undefined;
        const blob = key && blobOf(key);
        if (key === undefined || blob === undefined) return [];
        const comment = number === latest ? keyNameOf(offer) : `${keyNameOf(offer)}@v${number}`;
        return [{ offer, version: number, key, blob, comment }];
      });
    this.#read.set(data['keys'], { of: offer, found });
    return found;
  }
}

function listingOf(all: readonly (readonly OfferedVersion[])[]): Listing {
  const mostVersions = Math.max(0, ...all.map(({ length }) => length));
  const versions = Array.from({ length: mostVersions }, (_, age) =>
    all.flatMap((found) => found[age] ?? []),
  ).flat();
  return {
    versions,
    byBlob: new Map(versions.map((version) => [version.blob.toString('base64'), version])),
    answer: identitiesAnswer(versions),
  };
}

/** Errors that concern a single key. */
const KEY_ERRORS: ReadonlySet<string> = new Set([
  'not-found',
  'denied',
  'invalid',
  'unsupported',
  'corrupt',
  'conflict',
]);

/** Encoded keys, undefined if SSH does not support their type. Clients list the same keys again and again. */
const blobs = new WeakMap<KeyObject, Buffer | undefined>();

function blobOf(key: KeyObject): Buffer | undefined {
  if (blobs.has(key)) return blobs.get(key);
  const blob = attempt(() => sshBlob(key));
  blobs.set(key, blob);
  return blob;
}

type SignRequest = Extract<AgentRequest, { kind: 'sign' }>;
type LockRequest = Extract<AgentRequest, { kind: 'lock' | 'unlock' }>;

/** ssh-agent protocol: programs list the offers and request signatures. Keys cannot be added or removed by clients. */
export const openSshDoor: OpenDoor = (desk) => {
  const door = new SshDoor(desk);
  return (connection) => door.take(connection);
};

class SshDoor {
  readonly #desk: Desk;
  readonly #lock = new DoorLock();
  readonly #versions: OfferedVersions;

  constructor(desk: Desk) {
    this.#desk = desk;
    this.#versions = new OfferedVersions(desk);
  }

  take(connection: Duplex): void {
    const client = { bindings: new SessionBindings(), gone: hungUpSignal(connection) };
    answerInTurn(connection, { take: takeMessage, answer: (message) => this.#answer(message, client) });
  }

  /** Answers a message. Errors become a failure, because the protocol does not transmit reasons. */
  async #answer(message: Buffer, client: SshClient): Promise<Buffer> {
    try {
      return await this.#carryOut(parseAgentRequest(message), client);
    } catch (error) {
      if (asCofferError(error) === undefined) this.#desk.defect(error);
      return failure;
    }
  }

  #carryOut(request: AgentRequest, client: SshClient): Buffer | Promise<Buffer> {
    switch (request.kind) {
      case 'list':
        return this.#lock.closed ? identitiesAnswer([]) : this.#listFor(client);
      case 'sign':
        return this.#sign(request, client);
      case 'lock':
      case 'unlock':
        return this.#changeLock(request, client);
      case 'bind':
        return client.bindings.add(request.binding) ? success : extensionFailure;
      case 'query':
        return queryAnswer;
      case 'other':
        return failure;
    }
  }

  /** Refuses clients on another machine (a forwarded agent) everything except using keys. */
  async #changeLock({ kind, passphrase }: LockRequest, { bindings }: SshClient): Promise<Buffer> {
    if (bindings.isForwarded) throw denied('ssh-add -x and -X are only allowed on the machine of the agent');
    const isDone = kind === 'lock' ? this.#lock.close(passphrase) : this.#lock.open(passphrase);
    return (await isDone) ? success : failure;
  }

  async #listFor(client: SshClient): Promise<Buffer> {
    const { isForwarded } = client.bindings;
    // The user is not asked to unlock the store for a request from another machine.
    const offers = await this.#desk.offers(isForwarded ? 'quietly' : undefined);
    const { versions, answer } = await this.#versions.list(offers);
    if (!isForwarded) return answer;
    return identitiesAnswer(versions.filter(({ offer }) => isOfferedTo(client, offer)));
  }

  async #sign({ blob, data, rsaHash }: SignRequest, client: SshClient): Promise<Buffer> {
    if (this.#lock.closed) throw denied('the agent is locked: unlock it with "ssh-add -X"');
    const { offer, version, key } = await this.#find(blob, client);
    if (key.asymmetricKeyType === 'rsa' && rsaHash === undefined) {
      throw unsupported('SHA-1 signatures are not supported');
    }
    const asked = signedDataOf(data);
    if (!isOffered(offer, asked, blob, client))
      throw denied('the key is not offered for this kind of signature');
    await this.#desk.consent(offer, purposeOf(asked), client.gone);
    const hash = rsaHash ?? 'sha512';
    const raw = {
      name: offer.key,
      input: data.toString('base64'),
      key_version: version,
      ...sshSigning(key, hash),
    };
    const made = signatureIn(await this.#desk.run('transit sign', raw, offer.mount));
    const signature = wireSignatureOf(key, made, hash);
    // The key may have been replaced by another one of the same name; its signature would not verify.
    if (!verifyWireSignature(key, signature, data))
      throw unavailable('the returned signature does not match the key');
    return signAnswer(printWireSignature(signature));
  }

  /**
   * Finds the key that a client refers to, with its current offer.
   * @throws `denied`
   */
  async #find(blob: Buffer, client: SshClient): Promise<OfferedVersion> {
    const name = blob.toString('base64');
    const offers = await this.#desk.offers(client.bindings.isForwarded ? 'quietly' : undefined);
    const listed =
      this.#versions.last.byBlob.get(name) ?? (await this.#versions.list(offers)).byBlob.get(name);
    const { mount, key } = listed?.offer ?? {};
    const offer = offers.find((other) => other.mount === mount && other.key === key);
    if (listed === undefined || offer === undefined) throw denied('this key is not offered');
    return { ...listed, offer };
  }
}

/** Client connection. */
interface SshClient {
  readonly bindings: SessionBindings;
  readonly gone: AbortSignal;
}

/** Whether a key is offered to the client at all. */
const isOfferedTo = ({ bindings }: SshClient, { uses }: Offer): boolean =>
  !bindings.isForwarded || uses.includes(FORWARDED_USE);

/** Whether a key may sign this for the client. */
function isOffered(offer: Offer, asked: SshSignedData, blob: Buffer, client: SshClient): boolean {
  const { uses } = offer;
  const { bindings } = client;
  if (!isOfferedTo(client, offer)) return false;
  if (asked.kind === 'login' && !(asked.blob.equals(blob) && bindings.allows(asked))) return false;
  const use = asked.kind === 'login' ? 'login' : asked.kind === 'message' ? 'sign' : 'any';
  return uses.includes(use) || uses.includes('any');
}

function purposeOf(asked: SshSignedData): string {
  if (asked.kind === 'login') return `log in as ${JSON.stringify(asked.user)}`;
  if (asked.kind === 'message') return `sign data with the namespace ${JSON.stringify(asked.namespace)}`;
  return 'sign data that is neither a login nor a file';
}

const derive = promisify<Buffer, Buffer, number, Buffer>(scrypt);
const KEY_BYTES = 32;
const SALT_BYTES = 16;
/** Additional delay of the response for each wrong passphrase, in milliseconds. */
const STEP_MS = 100;
const MOST_MS = 10_000;

/** Locks the SSH agent with a passphrase: `ssh-add -x` and `-X`. It is unrelated to the store's passphrases. */
class DoorLock {
  /** Hash of the passphrase; undefined while it is open. */
  closed: { readonly salt: Buffer; readonly key: Buffer } | undefined;
  #wrong = 0;
  /** Last attempt; passphrases are tried one at a time. */
  #last: Promise<unknown> = Promise.resolve();

  /**
   * Locks.
   * @returns false if it is already locked
   */
  close(passphrase: Buffer): Promise<boolean> {
    return this.#inTurn(async () => {
      if (this.closed !== undefined) return false;
      const salt = randomBytes(SALT_BYTES);
      this.closed = { salt, key: await derive(passphrase, salt, KEY_BYTES) };
      return true;
    });
  }

  /**
   * Unlocks.
   * @returns false for a wrong passphrase, and if it is not locked
   */
  open(passphrase: Buffer): Promise<boolean> {
    return this.#inTurn(async () => {
      const closed = this.closed;
      if (closed === undefined) return false;
      const isRight = timingSafeEqual(await derive(passphrase, closed.salt, KEY_BYTES), closed.key);
      this.#wrong = isRight ? 0 : this.#wrong + 1;
      if (isRight) this.closed = undefined;
      else await pause(Math.min(this.#wrong * STEP_MS, MOST_MS));
      return isRight;
    });
  }

  #inTurn(work: () => Promise<boolean>): Promise<boolean> {
    const done = this.#last.then(work);
    this.#last = done.catch(() => undefined);
    return done;
  }
}
