import { duplexPair } from 'node:stream';
import type { OpenDoor } from '../../../src/doors/agent/agent-door.ts';
import { openPkcs11Door } from '../../../src/doors/agent/pkcs11/pkcs11-door.ts';
import { ATTRIBUTE as A, type ObjectAttribute } from '../../../src/doors/agent/pkcs11/rpc/attributes.ts';
import { CALLS, type CallName } from '../../../src/doors/agent/pkcs11/rpc/calls.ts';
import { writeFrame } from '../../../src/doors/agent/pkcs11/rpc/frames.ts';
import { MECHANISM as M, type Mechanism } from '../../../src/doors/agent/pkcs11/rpc/wire.ts';
import type { Chance } from '../../chance.ts';
import { type TestDesk, testDesk } from '../../doors/agent/pkcs11/desk.ts';
import { writeCall } from '../../doors/agent/pkcs11/rpc/client-codec.ts';
import { HANDSHAKE } from '../../doors/agent/pkcs11/rpc-client.ts';
import { shorterBytes, spoiledBytes } from '../mutation.ts';
import { Defect, target, type World } from '../target.ts';

/** What a program sends on one connection: calls that are right, spoiled, or out of order. */

const NAMES = Object.keys(CALLS) as CallName[];
/** Calls that lead somewhere come more often than by chance alone. */
const FRUITFUL: readonly CallName[] = [
  ...['openSession', 'findObjectsInit', 'findObjects', 'findObjectsFinal', 'signInit', 'sign', 'signUpdate'],
  ...[
    'signFinal',
    'verifyInit',
    'verify',
    'decryptInit',
    'decrypt',
    'encryptInit',
    'encrypt',
    'getAttributeValue',
  ],
] as CallName[];
const ROOMS = [0, 1, 20, 64, 256, 65_536, 0xffff_ffff];
const ULONGS = [-1, 0, 1, 2, 3, 4, 5, 6, 7, 64, 2 ** 31, 2 ** 53];
const LENGTHS = [0, 1, 20, 32, 48, 64, 256, 257, 5000];
const MOST_CALLS = 12;
/** What all its connections together may leave behind. */
const MOST_GROWTH_BYTES = 64 * 2 ** 20;

const mechanismOf = (chance: Chance): Mechanism | undefined => {
  if (chance.oneIn(20)) return undefined;
  const type = chance.pick(Object.values(M));
  const number = () => chance.pick([...ULONGS, M.sha1, M.sha256, M.sha512]);
  const isPss = type === M.rsaPss || (type >= M.sha256RsaPss && type <= M.sha512RsaPss);
  if (isPss) {
    const right = { hash: M.sha256, maskGeneration: 2, saltBytes: 32 };
    return {
      type,
      pss: chance.oneIn(3) ? { hash: number(), maskGeneration: number(), saltBytes: number() } : right,
    };
  }
  if (type !== M.rsaOaep) return { type };
  const label = chance.bytes(chance.size(10));
  const right = { hash: M.sha256, maskGeneration: 2, source: 0, label: Buffer.alloc(0) };
  return {
    type,
    oaep: chance.oneIn(3) ? { hash: number(), maskGeneration: number(), source: number(), label } : right,
  };
};

const attributeOf = (chance: Chance): ObjectAttribute =>
  chance.pick<() => ObjectAttribute>([
    () => ({ type: A.class, value: chance.below(6) }),
    () => ({ type: A.label, value: Buffer.from(chance.pick(['web', 'pay', ''])) }),
    () => ({ type: A.sign, value: chance.oneIn(2) }),
    () => ({ type: chance.below(0x300), value: undefined }),
    () => ({ type: A.allowedMechanisms, value: [M.ecdsa, chance.below(100)] }),
    () => ({ type: 0x4000_0211, value: [{ type: A.token, value: true }] }),
  ])();

const VALUES: Readonly<Record<string, (chance: Chance) => unknown>> = {
  u: (chance) => chance.pick(ULONGS),
  y: (chance) => chance.below(3),
  ay: (chance) => (chance.oneIn(8) ? undefined : chance.bytes(chance.pick(LENGTHS))),
  fy: (chance) => chance.pick(ROOMS),
  fu: (chance) => chance.pick(ROOMS),
  aA: (chance) => Array.from({ length: chance.below(3) }, () => attributeOf(chance)),
  fA: (chance) =>
    Array.from({ length: chance.size(20) }, () => ({
      type: chance.pick([...Object.values(A), 0x7777]),
      room: chance.pick(ROOMS),
    })),
  M: mechanismOf,
};

function messageOf(chance: Chance, isLate: boolean): Buffer {
  const name = chance.oneIn(3) ? chance.pick(NAMES) : chance.pick(FRUITFUL);
  const values = CALLS[name].takes.map(({ letters }) => VALUES[letters]?.(chance));
  return writeCall(name, values as never, isLate ? 'flagged' : 'marked');
}

function generate(chance: Chance): Buffer {
  const version = chance.below(4);
  const layout = version >= 2 ? 'flagged' : 'marked';
  const right = [
    writeCall('initialize', [HANDSHAKE, 0, undefined], layout),
    writeCall('openSession', [1, 4], layout),
    writeCall('findObjectsInit', [1, []], layout),
    writeCall('findObjects', [1, 100], layout),
    writeCall('findObjectsFinal', [1], layout),
  ];
  const calls = Array.from({ length: chance.below(MOST_CALLS) }, () => messageOf(chance, version >= 2));
  const messages = [...right, ...calls].map((message) =>
    chance.oneIn(6) ? spoiledBytes(chance, message, calls) : message,
  );
  const stream = Buffer.concat([
    Buffer.from([version]),
    ...messages.map((message, index) => writeFrame(index + 1, message)),
  ]);
  return chance.oneIn(8) ? spoiledBytes(chance, stream) : stream;
}

async function open(): Promise<World<Buffer>> {
  const desk: TestDesk = await testDesk();
  await desk.own('transit keys create', { name: 'web', type: 'ecdsa-p256' });
  await desk.own('transit keys create', { name: 'pay', type: 'rsa-2048' });
  for (const name of ['web', 'pay']) desk.offer(name);
  const take = openPkcs11Door(desk);
  let checked = 0;
  const heap = (): number => {
    globalThis.gc?.();
    return process.memoryUsage().heapUsed;
  };
  let before: number | undefined;
  return {
    generate,
    async check(stream) {
      await exchange(take, stream);
      if (desk.defects.length > 0) throw desk.defects[0];
      if (++checked === 200) before = heap();
    },
    print: (stream) => stream.toString('hex'),
    simpler: shorterBytes,
    close() {
      if (before !== undefined && heap() - before > MOST_GROWTH_BYTES) throw new Defect('the door grew');
    },
  };
}

/** Sends it in two pieces; everything that could be read of it is answered before the connection is closed. */
async function exchange(take: ReturnType<OpenDoor>, stream: Buffer): Promise<void> {
  const [ours, theirs] = duplexPair();
  take(theirs);
  ours.on('error', () => undefined);
  let idle = 0;
  ours.on('data', () => {
    idle = 0;
  });
  ours.write(stream.subarray(0, stream.length >> 1));
  ours.write(stream.subarray(stream.length >> 1));
  while (idle++ < 20) await new Promise((resolve) => setImmediate(resolve));
  ours.destroy();
  theirs.destroy();
}

export const pkcs11Door = target<Buffer>({ name: 'pkcs11-door', cases: 8_000, open });
