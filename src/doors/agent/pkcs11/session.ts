import type { OfferedKeys, OfferedKeyVersion } from './keys.ts';
import { matches, objectsOf, type TokenObject } from './objects.ts';
import {
  type BoundedAnswer,
  Decrypting,
  Digesting,
  Encrypting,
  hasRoom,
  SignOperation,
  VerifyOperation,
} from './operations.ts';
import { Refused, type ReturnName, refuse } from './return-values.ts';
import type { ObjectAttribute } from './rpc/attributes.ts';
import type { Mechanism } from './rpc/wire.ts';

/**
 * All offers as one token in one slot, the same for every program. Object handles are never reused; each search finds
 * the current offers.
 */
export class Pkcs11Token {
  readonly keys: OfferedKeys;
  #byHandle: ReadonlyMap<number, TokenObject> = new Map();
  #handles: ReadonlyMap<string, number> = new Map();
  #nextHandle = 1;
  /** Counters of searches; one that began earlier may end later. */
  #looks = 0;
  #taken = 0;
  /** Cached objects of the last versions. */
  #made: { readonly of: readonly OfferedKeyVersion[]; readonly objects: readonly TokenObject[] } | undefined;

  constructor(keys: OfferedKeys) {
    this.keys = keys;
  }

  /**
   * Finds all objects, by handle, in order.
   * @throws as `Keys.versions`
   */
  async look(): Promise<ReadonlyMap<number, TokenObject>> {
    const look = ++this.#looks;
    const objects = this.#objectsOf(await this.keys.versions());
    if (look > this.#taken) {
      this.#taken = look;
      this.#take(objects);
    }
    return this.#byHandle;
  }

  /**
   * Finds an object by handle.
   * @throws `Refused` with `missing` if it does not exist
   */
  object(handle: number, missing: ReturnName = 'objectHandleInvalid'): TokenObject {
    const object = this.#byHandle.get(handle);
    if (object === undefined) throw new Refused(missing);
    return object;
  }

  #objectsOf(versions: readonly OfferedKeyVersion[]): readonly TokenObject[] {
    const made = this.#made;
    const isSame =
      made?.of.length === versions.length && made.of.every((version, at) => isEqual(version, versions[at]));
    this.#made = made !== undefined && isSame ? made : { of: versions, objects: objectsOf(versions) };
    return this.#made.objects;
  }

  #take(objects: readonly TokenObject[]): void {
    const entries = objects.map(
      (object) => [this.#handles.get(object.name) ?? this.#nextHandle++, object] as const,
    );
    this.#handles = new Map(entries.map(([handle, { name }]) => [name, handle]));
    this.#byHandle = new Map(entries);
  }
}

/** Compares two versions; equal public keys are the same object here. */
function isEqual(one: OfferedKeyVersion, other: OfferedKeyVersion | undefined): boolean {
  if (other === undefined) return false;
  const names = Object.keys(one) as (keyof OfferedKeyVersion)[];
  return names.every((name) => one[name] === other[name]);
}

/** Active operations of a session: at most one of each kind. */
interface Operations {
  digest: Digesting;
  sign: SignOperation;
  verify: VerifyOperation;
  encrypt: Encrypting;
  decrypt: Decrypting;
}

/** Initialization of each operation, with its key. */
const BEGIN: {
  readonly [K in keyof Operations]: (key: () => TokenObject, mechanism: Mechanism) => Operations[K];
} = {
  digest: (_, mechanism) => new Digesting(mechanism),
  sign: (key, mechanism) => new SignOperation(key(), mechanism),
  verify: (key, mechanism) => new VerifyOperation(key(), mechanism),
  encrypt: (key, mechanism) => new Encrypting(key(), mechanism),
  decrypt: (key, mechanism) => new Decrypting(key(), mechanism),
};

/** `CKF_RW_SESSION`, and `CKS_…` */
const READ_WRITE = 0x2;
const STATE = { public: 0, user: 1, publicReadWrite: 2, userReadWrite: 3 } as const;

/**
 * PKCS #11 session with at most one search and one operation of each kind. Calls run in order. A failed operation is
 * terminated; CKR_BUFFER_TOO_SMALL keeps it active.
 */
export class Pkcs11Session {
  readonly flags: number;
  readonly #token: Pkcs11Token;
  readonly #gone: AbortSignal;
  readonly #under: { [K in keyof Operations]?: Operations[K] | undefined } = {};
  #last: Promise<unknown> = Promise.resolve();
  #found: readonly number[] | undefined;

  /** @param gone aborted when the client has disconnected */
  constructor(token: Pkcs11Token, flags: number, gone: AbortSignal) {
    this.#token = token;
    this.#gone = gone;
    this.flags = flags;
  }

  /** Runs a call after all earlier calls of the session. */
  inTurn<T>(work: () => T | Promise<T>): Promise<T> {
    const turn = this.#last.then(work);
    this.#last = turn.catch(() => undefined);
    return turn;
  }

  state(isLoggedIn: boolean): number {
    if ((this.flags & READ_WRITE) !== 0) return isLoggedIn ? STATE.userReadWrite : STATE.publicReadWrite;
    return isLoggedIn ? STATE.user : STATE.public;
  }

  async find(template: readonly ObjectAttribute[]): Promise<void> {
    if (this.#found !== undefined) refuse('operationActive');
    const objects = await this.#token.look();
    this.#found = [...objects].flatMap(([handle, object]) => (matches(object, template) ? [handle] : []));
  }

  /** Returns up to `most` further object handles. */
  nextFound(most: number): readonly number[] {
    const found = this.#found ?? refuse('operationNotInitialized');
    this.#found = found.slice(most);
    return found.slice(0, most);
  }

  endFind(): void {
    if (this.#found === undefined) refuse('operationNotInitialized');
    this.#found = undefined;
  }

  /**
   * Begins an operation.
   * @param mechanism undefined ends an active one
   */
  begin(kind: keyof Operations, mechanism: Mechanism | undefined, handle: number): void {
    if (mechanism === undefined) this.#end(kind);
    else if (this.#under[kind] !== undefined) refuse('operationActive');
    else this.#begin(kind, mechanism, handle);
  }

  digest(data: Buffer, room: number): BoundedAnswer {
    const digesting = this.#whole('digest');
    if (!hasRoom(room, digesting.bytes)) return digesting.bytes;
    this.#end('digest');
    digesting.add(data);
    return digesting.gathered();
  }

  digestFinal(room: number): BoundedAnswer {
    const digesting = this.#current('digest');
    if (!hasRoom(room, digesting.bytes)) return digesting.bytes;
    this.#end('digest');
    return digesting.gathered();
  }

  async sign(data: Buffer, room: number): Promise<BoundedAnswer> {
    const signing = this.#whole('sign');
    if (!hasRoom(room, signing.bytes)) return signing.bytes;
    this.#end('sign');
    return signing.whole(data, this.#token.keys, this.#gone);
  }

  async signFinal(room: number): Promise<BoundedAnswer> {
    const signing = this.#current('sign');
    if (!hasRoom(room, signing.bytes)) return signing.bytes;
    this.#end('sign');
    return signing.done(this.#token.keys, this.#gone);
  }

  async verify(data: Buffer, signature: Buffer): Promise<void> {
    const verifying = this.#whole('verify');
    this.#end('verify');
    verifying.add(data);
    await verifying.done(signature);
  }

  async verifyFinal(signature: Buffer): Promise<void> {
    const verifying = this.#current('verify');
    this.#end('verify');
    await verifying.done(signature);
  }

  /** Adds a part of the data to sign, verify or hash. */
  update(kind: 'digest' | 'sign' | 'verify', piece: Buffer): void {
    const current = this.#current(kind);
    current.inPieces = true;
    try {
      current.add(piece);
    } catch (error) {
      this.#end(kind);
      throw error;
    }
  }

  encrypt(plaintext: Buffer, room: number): BoundedAnswer {
    const encrypting = this.#current('encrypt');
    if (!hasRoom(room, encrypting.bytes)) return encrypting.bytes;
    this.#end('encrypt');
    return encrypting.done(plaintext);
  }

  async decrypt(ciphertext: Buffer, room: number): Promise<BoundedAnswer> {
    const decrypting = this.#current('decrypt');
    // The plaintext length is unknown before decryption, so report the maximum.
    if (room === 0) return decrypting.most;
    try {
      const plaintext = await decrypting.done(this.#token.keys, ciphertext, this.#gone);
      if (this.#under.decrypt !== decrypting) {
        // Wipe pending plaintext: no other code does it after the session is closed.
        decrypting.forget();
        refuse('sessionClosed');
      }
      if (plaintext.length > 0 && !hasRoom(room, plaintext.length)) return plaintext.length;
      const given = Buffer.from(plaintext);
      this.#end('decrypt');
      return given;
    } catch (error) {
      this.#end('decrypt');
      throw error;
    }
  }

  /** Ends all operations. */
  close(): void {
    for (const kind of Object.keys(BEGIN) as (keyof Operations)[]) this.#end(kind);
    this.#found = undefined;
  }

  #begin<K extends keyof Operations>(kind: K, mechanism: Mechanism, handle: number): void {
    this.#under[kind] = BEGIN[kind](() => this.#token.object(handle, 'keyHandleInvalid'), mechanism);
  }

  #current<K extends keyof Operations>(kind: K): Operations[K] {
    return this.#under[kind] ?? refuse('operationNotInitialized');
  }

  /** Returns the operation for data given as a whole, which cannot follow parts. */
  #whole<K extends 'digest' | 'sign' | 'verify'>(kind: K): Operations[K] {
    const current = this.#current(kind);
    return current.inPieces ? refuse('operationActive') : current;
  }

  #end(kind: keyof Operations): void {
    if (kind === 'decrypt') this.#under.decrypt?.forget();
    this.#under[kind] = undefined;
  }
}
