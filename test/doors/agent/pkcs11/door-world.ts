import { createHash, createPublicKey, type KeyObject } from 'node:crypto';
import { type Duplex, duplexPair } from 'node:stream';
import { afterEach, beforeEach, expect } from 'vitest';
import { openPkcs11Door } from '../../../../src/doors/agent/pkcs11/pkcs11-door.ts';
import { ATTRIBUTE as A } from '../../../../src/doors/agent/pkcs11/rpc/attributes.ts';
import { type TestDesk, testDesk } from './desk.ts';
import { find, openSession, RpcClient } from './rpc-client.ts';

/** A door with some keys, and programs that come through it. */

export const PRIVATE = { type: A.class, value: 3 };
export const PUBLIC = { type: A.class, value: 2 };
export const DATA = Buffer.from('to be signed');
export const sha256 = (data: Buffer): Buffer => createHash('sha256').update(data).digest();
export const id = (text: string) => ({ type: A.id, value: Buffer.from(text) });

/** Hash functions by their names in Node, and their numbers in PKCS #11: `CKM_…`, and `CKG_…` of the mask. */
export const PKCS11_HASHES = [
  { node: 'sha1', bytes: 20, digest: 0x220, ecdsa: 0x1042, rsa: 0x06, pss: 0x0e, mask: 1 },
  { node: 'sha224', bytes: 28, digest: 0x255, ecdsa: 0x1043, rsa: 0x46, pss: 0x47, mask: 5 },
  { node: 'sha256', bytes: 32, digest: 0x250, ecdsa: 0x1044, rsa: 0x40, pss: 0x43, mask: 2 },
  { node: 'sha384', bytes: 48, digest: 0x260, ecdsa: 0x1045, rsa: 0x41, pss: 0x44, mask: 3 },
  { node: 'sha512', bytes: 64, digest: 0x270, ecdsa: 0x1046, rsa: 0x42, pss: 0x45, mask: 4 },
] as const;

export interface There {
  readonly client: RpcClient;
  readonly session: number;
}

export interface DoorWorld {
  readonly desk: TestDesk;
  /** The door. */
  take(connection: Duplex): void;
  connection(): Duplex;
  /** With a session. */
  program(version?: number): Promise<There>;
  publicKey(name: string, version?: number): Promise<KeyObject>;
}

const KEYS = [
  ['web', 'ecdsa-p256'],
  ['big', 'ecdsa-p521'],
  ['pay', 'rsa-2048'],
  ['edwards', 'ed25519'],
] as const;

/** Offers the keys anew before each test, ends what came in after it, and looks whether anything was not foreseen. */
export async function doorWorld(): Promise<DoorWorld> {
  const desk = await testDesk();
  for (const [name, type] of KEYS) await desk.own('transit keys create', { name, type });
  await desk.own('transit keys rotate', { name: 'web', force: true });
  const open = openPkcs11Door(desk);
  const clients: RpcClient[] = [];
  const connection = (): Duplex => {
    const [ours, theirs] = duplexPair();
    open(theirs);
    return ours;
  };
  beforeEach(() => {
    desk.isLocked = false;
    desk.consents = true;
    desk.thinking = undefined;
    for (const [name] of KEYS) desk.offer(name);
  });
  afterEach(() => {
    for (const client of clients.splice(0)) client.close();
    expect(desk.defects).toEqual([]);
  });
  return {
    desk,
    take: open,
    connection,
    async program(version) {
      const client = await RpcClient.initialized(connection(), version);
      clients.push(client);
      return { client, session: await openSession(client) };
    },
    async publicKey(name, version = 1) {
      const { data } = await desk.own('transit keys read', { name });
      const { keys } = data as { keys: Record<string, { public_key: string }> };
      return createPublicKey(keys[version]?.public_key ?? '');
    },
  };
}

/** The handle of a key by its ID. */
export async function key({ client, session }: There, name: string, kind = PRIVATE): Promise<number> {
  const [handle] = await find(client, session, [kind, id(name)]);
  if (handle === undefined) throw new Error(`${name} is not there`);
  return handle;
}
