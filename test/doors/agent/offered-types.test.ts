import { expect, it } from 'vitest';
import { checkKey } from '../../../src/cli/agent/offers.ts';
import { kms } from '../../../src/doors/agent/kms/kms.ts';
import { AGENT_DOORS } from '../../../src/doors/agent/registry.ts';
import { asCofferError } from '../../../src/ground/errors.ts';
import { keyTypeNames } from '../../../src/transit/key-types/index.ts';

const ENCRYPTING = [
  ...['aes128-gcm96', 'aes256-gcm96', 'chacha20-poly1305', 'xchacha20-poly1305'],
  ...['rsa-2048', 'rsa-3072', 'rsa-4096'],
];
const ON_CURVES = ['ecdsa-p256', 'ecdsa-p384', 'ecdsa-p521'];
const RSA = ['rsa-2048', 'rsa-3072', 'rsa-4096'];

/** The types whose keys may be offered to a door, in alphabetical order. */
const OFFERED: Readonly<Record<string, readonly string[]>> = {
  ssh: [...ON_CURVES, 'ed25519', ...RSA],
  pkcs11: [...ON_CURVES, ...RSA],
  age: ['mlkem768-p256', 'mlkem768-x25519', 'p256', 'x25519'],
  sops: ENCRYPTING,
  kms: ENCRYPTING,
};

it.each([...AGENT_DOORS, kms].map((kind) => [kind.name, kind] as const))(
  'the door %s is offered keys of the types that its programs have a use for, and no others',
  async (name, kind) => {
    const offered: string[] = [];
    for (const type of [...keyTypeNames(), 'of-tomorrow']) {
      const run = async () => ({ data: { type } });
      const runner = { run } as unknown as Parameters<typeof checkKey>[0];
      try {
        await checkKey(runner, [kind], 'k');
        offered.push(type);
      } catch (error) {
        if (asCofferError(error)?.kind !== 'unsupported') throw error;
      }
    }
    expect(offered.sort()).toEqual([...(OFFERED[name] ?? [])].sort());
  },
);

it.each([
  ['ed25519', 'keys of type ed25519 cannot encrypt'],
  ['x25519', 'keys of type x25519 encrypt only the keys of age files'],
])('Kubernetes is not offered keys of type %s, for the true reason', async (type, reason) => {
  const runner = { run: async () => ({ data: { type } }) } as unknown as Parameters<typeof checkKey>[0];
  await expect(checkKey(runner, [kms], 'k')).rejects.toMatchObject({
    kind: 'unsupported',
    message: `k cannot be offered to kms: ${reason}`,
  });
});
