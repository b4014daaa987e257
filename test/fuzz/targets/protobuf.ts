import { parseMessage } from '../../../src/doors/agent/grpc/grpc.ts';
import { field, parseFields } from '../../../src/doors/agent/grpc/protobuf.ts';
import { asCofferError } from '../../../src/ground/errors.ts';
import type { Chance } from '../../chance.ts';
import { framed } from '../../doors/agent/grpc-client.ts';
import { processorMs } from '../../processor-time.ts';
import { shorterBytes, spoiledBytes } from '../mutation.ts';
import { Defect, target, type World } from '../target.ts';

/** Messages of gRPC as the doors read them: against another reader, and in proportion to their length. */

const MOST_BYTES = 64 * 1024;
const MOST_MS = 1000;

/** Fields of bytes by their numbers, read the plain way; undefined for what is no message. */
function plainly(message: Buffer): ReadonlyMap<number, Buffer> | undefined {
  const found = new Map<number, Buffer>();
  let rest = message;
  const number = (): bigint | undefined => {
    const length = rest.findIndex((byte) => byte < 0x80) + 1;
    if (length < 1 || length > 10) return undefined;
    const value = rest.subarray(0, length).reduceRight((sum, byte) => sum * 128n + BigInt(byte & 0x7f), 0n);
    rest = rest.subarray(length);
    return value;
  };
  while (rest.length > 0) {
    const key = number();
    if (key === undefined || key < 8n || key >> 3n >= 2n ** 29n) return undefined;
    const kind = Number(key & 7n);
    const length = kind === 1 ? 8n : kind === 5 ? 4n : kind === 0 || kind === 2 ? number() : undefined;
    if (length === undefined) return undefined;
    if (kind === 0) continue;
    if (length > BigInt(rest.length)) return undefined;
    if (kind === 2) found.set(Number(key >> 3n), rest.subarray(0, Number(length)));
    rest = rest.subarray(Number(length));
  }
  return found;
}

const open = async (): Promise<World<Buffer>> => ({
  generate(chance: Chance) {
    const unit = (): Buffer =>
      chance.pick([
        field(chance.size(2 ** 29 - 2) + 1, chance.bytes(chance.size(300))),
        Buffer.from(
          chance.pick(['0a00', '0800', '08ffffffffffffffff01', '0d00000000', '0900000000000000ff']),
          'hex',
        ),
      ]);
    const units = Array.from({ length: 1 + chance.below(6) }, unit);
    const message = Buffer.concat(units);
    if (chance.below(50) === 0 && message.length > 0) return Buffer.alloc(MOST_BYTES, message);
    return chance.below(2) === 0 ? message : spoiledBytes(chance, message, units);
  },
  check(message) {
    let fields: ReadonlyMap<number, Buffer> | undefined;
    const took = processorMs(() => {
      try {
        fields = parseFields(parseMessage(framed(message)));
      } catch (error) {
        if (asCofferError(error) === undefined) throw error;
      }
    });
    if (took > MOST_MS) throw new Defect(`reading ${message.length} bytes took ${took} ms`);
    const expected = plainly(message);
    if ((fields === undefined) !== (expected === undefined))
      throw new Defect('one reader takes what another refuses');
    for (const [number, bytes] of expected ?? []) {
      if (fields?.get(number)?.equals(bytes) !== true) throw new Defect(`field ${number} is read otherwise`);
    }
    if (fields?.size !== expected?.size) throw new Defect('a field is read that is not there');
  },
  print: (message) => message.toString('base64'),
  simpler: shorterBytes,
  close: () => undefined,
});

export const protobuf = target<Buffer>({ name: 'protobuf', cases: 20_000, open });
