import type { Duplex } from 'node:stream';
import { asCofferError, type ErrorKind } from '../../../ground/errors.ts';
import { turn } from '../../../ground/pause.ts';
import type { OpenDoor } from '../agent-door.ts';
import type { Desk } from '../desk.ts';
import { OfferedKeys } from './keys.ts';
import { Program } from './program.ts';
import { RETURN, Refused, type ReturnName } from './return-values.ts';
import { readCall, writeFailure } from './rpc/calls.ts';
import { type Frame, FrameReader, writeFrame } from './rpc/frames.ts';
import type { MechanismLayout } from './rpc/wire.ts';
import { Pkcs11Token } from './session.ts';

/** Server of p11-kit's remote protocol: each connection is a program that has loaded the client module. */
export const openPkcs11Door: OpenDoor = (desk) => {
  const token = new Pkcs11Token(new OfferedKeys(desk));
  return (connection) => new Pkcs11Connection(desk, token, connection).start();
};

/**
 * First version of the protocol, which all clients still support; later ones only add calls that this token does not
 * have.
 */
const VERSION = 0;
/** Minimum version sent by clients of releases that encode mechanisms in the later way. */
const FLAGGED_FROM = 2;
/** Maximum number of concurrent calls per connection; each thread of a program waits for one. */
const MOST_CALLS = 64;

/** Return values for errors of the store. */
const VALUES: Readonly<Record<ErrorKind, ReturnName>> = {
  invalid: 'keyFunctionNotPermitted',
  unsupported: 'keyFunctionNotPermitted',
  'not-found': 'keyHandleInvalid',
  denied: 'keyFunctionNotPermitted',
  sealed: 'userNotLoggedIn',
  conflict: 'keyFunctionNotPermitted',
  exists: 'generalError',
  inauthentic: 'encryptedDataInvalid',
  corrupt: 'deviceError',
  unavailable: 'deviceError',
  unconfirmed: 'deviceError',
  'too-large': 'dataLengthRange',
};

/** Connection. */
class Pkcs11Connection {
  readonly #desk: Desk;
  readonly #program: Program;
  readonly #connection: Duplex;
  readonly #frames = new FrameReader();
  /** Layout of mechanisms; undefined until the client has sent its version. */
  #layout: MechanismLayout | undefined;
  #waiting = 0;
  /** Resolved when there may be capacity for another call. */
  #room = Promise.withResolvers<void>();

  constructor(desk: Desk, token: Pkcs11Token, connection: Duplex) {
    this.#desk = desk;
    this.#program = new Program(token);
    this.#connection = connection;
  }

  start(): void {
    this.#connection.on('error', () => undefined);
    this.#connection.on('close', () => {
      this.#program.close();
      this.#room.resolve();
    });
    this.#connection.on('drain', () => this.#room.resolve());
    this.#connection.on('data', (piece: Buffer) => void this.#take(piece));
  }

  /**
   * Starts the calls in a received piece, one per event loop turn, to let other work run; the next piece is read only
   * after that.
   */
  async #take(piece: Buffer): Promise<void> {
    let rest = piece;
    if (this.#layout === undefined) {
      const [version] = piece;
      if (version === undefined) return;
      this.#layout = version >= FLAGGED_FROM ? 'flagged' : 'marked';
      this.#connection.write(Buffer.from([VERSION]));
      rest = piece.subarray(1);
    }
    this.#connection.pause();
    for (const frame of this.#frames.push(rest)) {
      void this.#answer(frame, this.#layout);
      await turn();
      await this.#hasRoom();
      if (this.#connection.destroyed) return;
    }
    this.#connection.resume();
  }

  async #hasRoom(): Promise<void> {
    while (!this.#mayTake && !this.#connection.destroyed) {
      this.#room = Promise.withResolvers<void>();
      await this.#room.promise;
    }
  }

  /** Whether another call may start: a client that sends requests and does not read only blocks itself. */
  get #mayTake(): boolean {
    return this.#waiting < MOST_CALLS && !this.#connection.writableNeedDrain;
  }

  async #answer({ code, body }: Frame, layout: MechanismLayout): Promise<void> {
    this.#waiting += 1;
    const answer = await this.#carryOut(body, layout);
    this.#waiting -= 1;
    if (this.#connection.destroyed) return;
    this.#connection.write(writeFrame(code, answer));
    this.#room.resolve();
  }

  async #carryOut(body: Buffer | undefined, layout: MechanismLayout): Promise<Buffer> {
    try {
      if (body === undefined) throw new Refused('dataLengthRange');
      return await this.#program.answer(readCall(body, layout));
    } catch (error) {
      return writeFailure(this.#valueOf(error));
    }
  }

  #valueOf(error: unknown): number {
    if (error instanceof Refused) return error.value;
    const known = asCofferError(error);
    if (known === undefined) this.#desk.defect(error);
    return RETURN[known === undefined ? 'generalError' : VALUES[known.kind]];
  }
}
