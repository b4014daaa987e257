import type { Duplex } from 'node:stream';
import { FORWARDED_USE, type Offer } from '../../../access/doors.ts';
import { asCofferError, denied, unavailable, unsupported } from '../../../ground/errors.ts';
import { takeMessage } from '../../../signatures/ssh-agent-messages.ts';
import {
  printWireSignature,
  sshSigning,
  verifyWireSignature,
  wireSignatureOf,
} from '../../../signatures/ssh-signature.ts';
import type { OpenDoor } from '../agent-door.ts';
import { answerInTurn } from '../answer-in-turn.ts';
import { signatureIn } from '../answers.ts';
import type { Desk } from '../desk.ts';
import { hungUpSignal } from '../gone.ts';
import { SessionBindings } from './bindings.ts';
import { DoorLock } from './door-lock.ts';
import { type OfferedVersion, OfferedVersions } from './identities.ts';
import {
  type AgentRequest,
  extensionFailure,
  failure,
  identitiesAnswer,
  parseAgentRequest,
  queryAnswer,
  signAnswer,
  success,
} from './messages.ts';
import { type SshSignedData, signedDataOf } from './signed-data.ts';

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
        return this.#lock.isClosed ? identitiesAnswer([]) : this.#listFor(client);
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
    if (bindings.isForwarded) throw denied('locking is only allowed from this machine');
    const isDone = kind === 'lock' ? this.#lock.close(passphrase) : this.#lock.open(passphrase);
    return (await isDone) ? success : failure;
  }

  async #listFor(client: SshClient): Promise<Buffer> {
    const { versions, answer } = await this.#versions.list(await this.#offersTo(client));
    if (!client.bindings.isForwarded) return answer;
    return identitiesAnswer(versions.filter(({ offer }) => isOfferedTo(client, offer)));
  }

  /** Returns the offers for a client. The user is not asked to unlock the store for a request from another machine. */
  #offersTo({ bindings }: SshClient): Promise<readonly Offer[]> {
    return this.#desk.offers(bindings.isForwarded ? 'quietly' : undefined);
  }

  async #sign({ blob, data, rsaHash }: SignRequest, client: SshClient): Promise<Buffer> {
    if (this.#lock.isClosed) throw denied('the agent is locked');
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
    const offers = await this.#offersTo(client);
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
  if (asked.kind === 'message') return `sign for ${JSON.stringify(asked.namespace)}`;
  return 'sign something that is neither a log-in nor a file';
}
