import type { Duplex } from 'node:stream';
import { asCofferError, type ErrorKind } from '../../../ground/errors.ts';
import { turn } from '../../../ground/pause.ts';
import type { OpenDoor } from '../agent-door.ts';
import type { Desk } from '../desk.ts';
import { Keys } from './keys.ts';
import { Program } from './program.ts';
import { RETURN, Refused, type ReturnName } from './return-values.ts';
import { readCall, writeFailure } from './rpc/calls.ts';
import { type Frame, FrameReader, writeFrame } from './rpc/frames.ts';
import type { MechanismLayout } from './rpc/wire.ts';
import { Token } from './token.ts';

/** The server of p11-kit's remote protocol: each connection is a program that has loaded the client module. */
export const openPkcs11Door: OpenDoor = (desk) => {
  const token = new Token(new Keys(desk));
  return (connection) => new Caller(desk, token, connection).start();
};

/** The protocol's first version, which all clients still speak; the later ones only add calls that this token has not. */
const VERSION = 0;
/** A client that says so, or more, is of a release that writes mechanisms in the later way. */
const FLAGGED_FROM = 2;
/** Of one connection, at once; each thread of a program waits for one. */
const MOST_CALLS = 64;

/** What a program is told of errors of the store. */
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

/** One connection. */
class Caller {
  readonly #desk: Desk;
  readonly #program: Program;
  readonly #connection: Duplex;
  readonly #frames = new FrameReader();
  /** Undefined until the client has said of which release it is. */
  #layout: MechanismLayout | undefined;
  #waiting = 0;
  /** Resolved when there may be room for another call. */
  #room = Promise.withResolvers<void>();

  constructor(desk: Desk, token: Token, connection: Duplex) {
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

  /** Begins the calls of a piece, one in a turn of the event loop, so that others have theirs; nothing more comes in before that. */
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

  /** A client that asks and does not read holds up itself alone. */
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
