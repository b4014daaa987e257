import type { Duplex } from 'node:stream';
import type { CallName, GivenValues, Taken } from '../../../../src/doors/agent/pkcs11/rpc/calls.ts';
import { FrameReader, writeFrame } from '../../../../src/doors/agent/pkcs11/rpc/frames.ts';
import { readAnswer, writeCall } from './rpc/client-codec.ts';

export const HANDSHAKE = Buffer.from('PRIVATE-GNOME-KEYRING-PKCS11-PROTOCOL-V-1');
/** As a room: more than anything needs. */
export const ROOM = 65_536;

/** What a program that has loaded p11-kit's client module sends. */
export class RpcClient {
  readonly #connection: Duplex;
  readonly #version: number;
  readonly #frames = new FrameReader();
  readonly #waiting = new Map<number, (body: Buffer | undefined) => void>();
  #code = 0;
  /** What the server said first. */
  agreed: number | undefined;

  /** @param version what the client's release knows. */
  constructor(connection: Duplex, version = 2) {
    this.#connection = connection;
    this.#version = version;
    connection.on('data', (piece: Buffer) => this.#take(piece));
    connection.on('error', () => undefined);
    connection.on('close', () => {
      for (const done of this.#waiting.values()) done(undefined);
    });
    connection.write(Buffer.from([version]));
  }

  static async initialized(connection: Duplex, version?: number): Promise<RpcClient> {
    const client = new RpcClient(connection, version);
    await client.ok('initialize', [HANDSHAKE, 0, Buffer.alloc(1)]);
    return client;
  }

  /** The answer, or a return value that is not 0; -1 when the connection was closed. */
  async call<N extends CallName>(name: N, values: Taken<N>): Promise<GivenValues<N> | number> {
    const body = await this.send(writeCall(name, values, this.#version >= 2 ? 'flagged' : 'marked'));
    return body === undefined ? -1 : readAnswer(name, body);
  }

  /** @throws for anything but an answer. */
  async ok<N extends CallName>(name: N, values: Taken<N>): Promise<GivenValues<N>> {
    const answer = await this.call(name, values);
    if (typeof answer === 'number') throw new Error(`${name} failed: 0x${answer.toString(16)}`);
    return answer as GivenValues<N>;
  }

  send(body: Buffer): Promise<Buffer | undefined> {
    const code = ++this.#code;
    if (this.#connection.destroyed) return Promise.resolve(undefined);
    return new Promise((resolve) => {
      this.#waiting.set(code, resolve);
      this.#connection.write(writeFrame(code, body));
    });
  }

  close(): void {
    this.#connection.destroy();
  }

  #take(piece: Buffer): void {
    let rest = piece;
    if (this.agreed === undefined) {
      this.agreed = piece[0];
      rest = piece.subarray(1);
    }
    for (const { code, body } of this.#frames.push(rest)) {
      this.#waiting.get(code)?.(body);
      this.#waiting.delete(code);
    }
  }
}

/** A session of the token's one slot. */
export async function openSession(client: RpcClient): Promise<number> {
  const [slots] = await client.ok('getSlotList', [1, 10]);
  const slot = typeof slots === 'number' ? 0 : (slots[0] ?? 0);
  const [session] = await client.ok('openSession', [slot, 0x4]);
  return session;
}

/** Handles of what has these attributes. */
export async function find(
  client: RpcClient,
  session: number,
  template: Taken<'findObjectsInit'>[1],
): Promise<readonly number[]> {
  await client.ok('findObjectsInit', [session, template]);
  const [found] = await client.ok('findObjects', [session, 1000]);
  await client.ok('findObjectsFinal', [session]);
  return typeof found === 'number' ? [] : found;
}

/** One attribute; undefined where it is not shown. */
export async function attribute(client: RpcClient, session: number, object: number, type: number) {
  const [[shown] = []] = await client.ok('getAttributeValue', [session, object, [{ type, room: ROOM }]]);
  return shown?.value;
}
