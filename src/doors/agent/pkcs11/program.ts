import { randomBytes } from 'node:crypto';
import { MECHANISM_TYPES, mechanismInfo } from './mechanisms.ts';
import { isSecret } from './objects.ts';
import { RETURN, Refused, refuse } from './return-values.ts';
import type { ObjectAttribute, WantedAttribute } from './rpc/attributes.ts';
import { type AskedCall, type CallName, type GivenValues, type Taken, writeAnswer } from './rpc/calls.ts';
import { NO_ARRAY } from './rpc/wire.ts';
import { Pkcs11Session, type Pkcs11Token } from './session.ts';

/** Handshake of clients, which identifies the protocol. */
const HANDSHAKE = Buffer.from('PRIVATE-GNOME-KEYRING-PKCS11-PROTOCOL-V-1');

const SLOT = 1;
const CRYPTOKI_VERSION = [2, 40] as const;
const OWN_VERSION = [1, 0] as const;
const MANUFACTURER = 'Coffer';
const LABEL = 'coffer';
/** `CKF_TOKEN_PRESENT` */
const SLOT_FLAGS = 0x1;
/** `CKF_RNG`, `CKF_WRITE_PROTECTED` and `CKF_TOKEN_INITIALIZED`. No login is required. */
const TOKEN_FLAGS = 0x1 | 0x2 | 0x400;
const SERIAL_SESSION = 0x4;
const UNAVAILABLE = -1;
const MOST_PIN_BYTES = 255;
const USER = 1;

/** Maximum number of sessions, more than a program with a thread per connection has. */
const MOST_SESSIONS = 1024;
const MOST_RANDOM_BYTES = 65_536;
/** Maximum total size of values in one response, in bytes: certificates are read repeatedly. */
const MOST_VALUE_BYTES = 1024 * 1024;

type CallHandlers = {
  readonly [N in CallName]: (values: Taken<N>) => GivenValues<N> | Promise<GivenValues<N>>;
};

const NOTHING = Buffer.alloc(0);

/** Program, which is one connection: its sessions end with it. Objects belong to the token. */
export class Program {
  readonly #token: Pkcs11Token;
  readonly #gone = new AbortController();
  readonly #sessions = new Map<number, Pkcs11Session>();
  #nextSession = 1;
  #isInitialized = false;
  #isLoggedIn = false;

  constructor(token: Pkcs11Token) {
    this.#token = token;
  }

  /**
   * Handles a call.
   * @returns the response message
   * @throws `Refused`, and errors of the store
   */
  async answer(asked: AskedCall): Promise<Buffer> {
    return this.#answer(asked.name, asked.values);
  }

  /** Closes all sessions, and cancels prompts on its behalf. */
  close(): void {
    this.#gone.abort();
    this.#closeSessions();
  }

  async #answer<N extends CallName>(name: N, values: Taken<N>): Promise<Buffer> {
    if (!this.#isInitialized && name !== 'initialize' && name !== 'getInfo') refuse('notInitialized');
    return writeAnswer(name, await this.#handlers[name](values));
  }

  readonly #handlers: CallHandlers = {
    initialize: ([handshake]) => this.#initialize(handshake),
    finalize: () => {
      this.#closeSessions();
      this.#isInitialized = false;
      return [];
    },
    getInfo: () => [CRYPTOKI_VERSION, MANUFACTURER, 0, 'keys of a Coffer store', OWN_VERSION],
    getSlotList: ([, room]) => [room === 0 ? 1 : [SLOT]],
    getSlotInfo: ([slot]) => {
      requireSlot(slot);
      return ['Keys offered with "coffer agent offer"', MANUFACTURER, SLOT_FLAGS, OWN_VERSION, OWN_VERSION];
    },
    getTokenInfo: ([slot]) => {
      requireSlot(slot);
      const open = this.#sessions.size;
      const memory = [UNAVAILABLE, UNAVAILABLE, UNAVAILABLE, UNAVAILABLE] as const;
      const sessions = [MOST_SESSIONS, open, MOST_SESSIONS, UNAVAILABLE] as const;
      const pin = [MOST_PIN_BYTES, 0] as const;
      return [
        LABEL,
        MANUFACTURER,
        'store',
        '1',
        TOKEN_FLAGS,
        ...sessions,
        ...pin,
        ...memory,
        OWN_VERSION,
        OWN_VERSION,
        '',
      ];
    },
    getMechanismList: ([slot, room]) => {
      requireSlot(slot);
      return [room < MECHANISM_TYPES.length ? MECHANISM_TYPES.length : MECHANISM_TYPES];
    },
    getMechanismInfo: ([slot, type]) => {
      requireSlot(slot);
      return mechanismInfo(type);
    },
    openSession: ([slot, flags]) => {
      requireSlot(slot);
      if ((flags & SERIAL_SESSION) === 0) refuse('sessionParallelNotSupported');
      if (this.#sessions.size >= MOST_SESSIONS) refuse('sessionCount');
      const handle = this.#nextSession++;
      this.#sessions.set(handle, new Pkcs11Session(this.#token, flags, this.#gone.signal));
      return [handle];
    },
    closeSession: ([handle]) => {
      this.#session(handle).close();
      this.#sessions.delete(handle);
      return [];
    },
    closeAllSessions: ([slot]) => {
      requireSlot(slot);
      this.#closeSessions();
      return [];
    },
    getSessionInfo: ([handle]) => {
      const session = this.#session(handle);
      return [SLOT, session.state(this.#isLoggedIn), session.flags, 0];
    },
    login: ([handle, user]) => {
      this.#session(handle);
      if (user !== USER) refuse('userTypeInvalid');
      if (this.#isLoggedIn) refuse('userAlreadyLoggedIn');
      // Unlocking the store is up to the agent: anyone who can connect to this socket already is that user.
      this.#isLoggedIn = true;
      return [];
    },
    logout: ([handle]) => {
      this.#session(handle);
      if (!this.#isLoggedIn) refuse('userNotLoggedIn');
      this.#isLoggedIn = false;
      return [];
    },
    getObjectSize: ([handle, object]) => {
      this.#session(handle);
      this.#token.object(object);
      return [UNAVAILABLE];
    },
    getAttributeValue: ([handle, object, wanted]) =>
      this.#inSession(handle, () => valuesOf(this.#token, object, wanted)),
    findObjectsInit: ([handle, template]) => this.#doing(handle, (session) => session.find(template)),
    findObjects: ([handle, room]) => this.#inSession(handle, (session) => [session.nextFound(room)]),
    findObjectsFinal: ([handle]) => this.#doing(handle, (session) => session.endFind()),
    encryptInit: ([handle, mechanism, key]) =>
      this.#doing(handle, (session) => session.begin('encrypt', mechanism, key)),
    encrypt: ([handle, data = NOTHING, room]) =>
      this.#inSession(handle, (session) => [session.encrypt(data, room)]),
    decryptInit: ([handle, mechanism, key]) =>
      this.#doing(handle, (session) => session.begin('decrypt', mechanism, key)),
    decrypt: ([handle, data = NOTHING, room]) =>
      this.#inSession(handle, async (session) => [await session.decrypt(data, room)]),
    digestInit: ([handle, mechanism]) =>
      this.#doing(handle, (session) => session.begin('digest', mechanism, 0)),
    digest: ([handle, data = NOTHING, room]) =>
      this.#inSession(handle, (session) => [session.digest(data, room)]),
    digestUpdate: ([handle, piece = NOTHING]) =>
      this.#doing(handle, (session) => session.update('digest', piece)),
    digestFinal: ([handle, room]) => this.#inSession(handle, (session) => [session.digestFinal(room)]),
    signInit: ([handle, mechanism, key]) =>
      this.#doing(handle, (session) => session.begin('sign', mechanism, key)),
    sign: ([handle, data = NOTHING, room]) =>
      this.#inSession(handle, async (session) => [await session.sign(data, room)]),
    signUpdate: ([handle, piece = NOTHING]) =>
      this.#doing(handle, (session) => session.update('sign', piece)),
    signFinal: ([handle, room]) =>
      this.#inSession(handle, async (session) => [await session.signFinal(room)]),
    verifyInit: ([handle, mechanism, key]) =>
      this.#doing(handle, (session) => session.begin('verify', mechanism, key)),
    verify: ([handle, data = NOTHING, signature = NOTHING]) =>
      this.#doing(handle, (session) => session.verify(data, signature)),
    verifyUpdate: ([handle, piece = NOTHING]) =>
      this.#doing(handle, (session) => session.update('verify', piece)),
    verifyFinal: ([handle, signature = NOTHING]) =>
      this.#doing(handle, (session) => session.verifyFinal(signature)),
    generateRandom: ([handle, room]) => {
      this.#session(handle);
      // Some programs request zero bytes, to test whether the call works.
      if (room === NO_ARRAY) return [NOTHING];
      if (room > MOST_RANDOM_BYTES) refuse('argumentsBad');
      return [randomBytes(room)];
    },
    initPin: readOnly,
    setPin: readOnly,
    createObject: readOnly,
    copyObject: readOnly,
    destroyObject: readOnly,
    setAttributeValue: readOnly,
    getOperationState: () => refuse('stateUnsaveable'),
    seedRandom: () => refuse('randomSeedNotSupported'),
  };

  #initialize(handshake: Buffer | undefined): GivenValues<'initialize'> {
    if (handshake === undefined || !handshake.equals(HANDSHAKE)) refuse('argumentsBad');
    if (this.#isInitialized) refuse('alreadyInitialized');
    this.#isInitialized = true;
    return [];
  }

  #session(handle: number): Pkcs11Session {
    return this.#sessions.get(handle) ?? refuse('sessionHandleInvalid');
  }

  #inSession<T>(handle: number, work: (session: Pkcs11Session) => T | Promise<T>): Promise<T> {
    const session = this.#session(handle);
    return session.inTurn(() => work(session));
  }

  async #doing(handle: number, work: (session: Pkcs11Session) => void | Promise<void>): Promise<readonly []> {
    await this.#inSession(handle, work);
    return [];
  }

  #closeSessions(): void {
    for (const session of this.#sessions.values()) session.close();
    this.#sessions.clear();
    this.#isLoggedIn = false;
  }
}

const readOnly = (): never => refuse('tokenWriteProtected');

function requireSlot(slot: number): void {
  if (slot !== SLOT) refuse('slotIdInvalid');
}

/** Returns each requested attribute, in that order: without a value if it has none, or a secret one. */
function valuesOf(
  token: Pkcs11Token,
  handle: number,
  wanted: readonly WantedAttribute[],
): GivenValues<'getAttributeValue'> {
  const object = token.object(handle);
  let result = 0;
  let bytes = 0;
  const values = wanted.map(({ type }): ObjectAttribute => {
    const value = object.attributes.get(type);
    if (value === undefined && isSecret(object, type)) result = RETURN.attributeSensitive;
    else if (value === undefined && result === 0) result = RETURN.attributeTypeInvalid;
    bytes += Buffer.isBuffer(value) ? value.length : 0;
    if (bytes > MOST_VALUE_BYTES) throw new Refused('hostMemory');
    return { type, value };
  });
  return [values, result];
}
