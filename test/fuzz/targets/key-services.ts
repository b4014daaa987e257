import { parseMessage } from '../../../src/doors/agent/grpc/grpc.ts';
import { field } from '../../../src/doors/agent/grpc/protobuf.ts';
import { kmsMethods } from '../../../src/doors/agent/kms/kms-door.ts';
import { sopsMethods } from '../../../src/doors/agent/sops/sops-door.ts';
import type { Chance } from '../../chance.ts';
import { sealingDesk } from '../../doors/agent/sealing-desk.double.ts';
import { shorterBytes, spoiledBytes } from '../mutation.ts';
import type { Secrets } from '../secrets.ts';
import { Defect, target, type World } from '../target.ts';

/** Messages to the key services of sops and Kubernetes, as they stand in a call. */

const PLAINTEXT = 'a seed that nobody is to see';

interface Case {
  readonly bytes: Buffer;
  readonly path: string;
}

function framed(...parts: readonly Buffer[]): Buffer {
  const body = Buffer.concat(parts);
  const prefix = Buffer.alloc(5);
  prefix.writeUInt32BE(body.length, 1);
  return Buffer.concat([prefix, body]);
}

async function open(_: Chance, secrets: Secrets): Promise<World<Case>> {
  const { desk, keys } = sealingDesk();
  for (const key of keys) secrets.add('the key', key);
  const methods = { ...sopsMethods(desk), ...kmsMethods(desk) };
  const raw = { name: 'app', plaintext: Buffer.from(PLAINTEXT).toString('base64') };
  const { data } = await desk.run('transit encrypt', raw, 'transit');
  const { ciphertext } = data as { readonly ciphertext: string };
  const named = field(
    1,
    field(5, Buffer.concat([field(1, 'http://x'), field(2, 'transit'), field(3, 'app')])),
  );
  const whole = [
    framed(named, field(2, 'a data key')),
    framed(named, field(2, ciphertext)),
    framed(field(1, 'a seed'), field(2, 'uid')),
    framed(field(1, ciphertext), field(2, 'uid'), field(3, 'id'), field(4, field(1, 'x'))),
    framed(),
  ];
  const { signal } = new AbortController();
  return {
    generate: (chance) => ({
      bytes: spoiledBytes(chance, chance.pick(whole), whole),
      path: chance.pick(Object.keys(methods)),
    }),
    async check({ bytes, path }) {
      const outcome = await secrets.outcome(async () => methods[path]?.(parseMessage(bytes), signal));
      if (!('value' in outcome) || outcome.value === undefined) return;
      const text = outcome.value.toString('latin1');
      secrets.examine(text, 'an answer');
      const isWhole = bytes.includes(ciphertext);
      if (text.includes(PLAINTEXT) && !isWhole) throw new Defect('a changed ciphertext opens');
    },
    print: ({ bytes, path }) => `${path} ${bytes.toString('base64')}`,
    *simpler({ bytes, path }) {
      for (const shorter of shorterBytes(bytes)) yield { bytes: shorter, path };
    },
    close: () => undefined,
  };
}

export const keyServices = target<Case>({ name: 'key-services', cases: 20_000, open });
