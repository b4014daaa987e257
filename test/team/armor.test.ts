import { generateKeyPairSync } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { inauthentic, unavailable } from '../../src/ground/errors.ts';
import { sshBlob } from '../../src/signatures/ssh-key.ts';
import { openArmor } from '../../src/team/armor.ts';
import { sshLineOf } from '../../src/team/recipients.ts';
import { sshIdentity } from '../../src/transit/envelope/age/ssh.ts';
import { printBech32 } from '../../src/transit/key-types/age/bech32.ts';
import { sealer } from './sealer.ts';

describe('a secret in age files', () => {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519');
  const line = sshLineOf(publicKey);
  const identity = sshIdentity(privateKey, sshBlob(publicKey));
  const secret = Buffer.alloc(32, 7);

  it('is opened wherever it stands among them, and only with the length of a secret', async () => {
    const armor = await sealer.armorFor([line], secret);
    const others = sshLineOf(generateKeyPairSync('ed25519').publicKey);
    const foreign = await sealer.armorFor([others], secret);
    const broken = armor.replace(/A/, 'B');
    expect(await openArmor(foreign + broken + armor, identity)).toEqual(secret);
    expect(await openArmor(foreign, identity)).toBeUndefined();
    for (const bytes of [31, 33])
      expect(await openArmor(await sealer.armorFor([line], Buffer.alloc(bytes)), identity)).toBeUndefined();
  });

  it('is not taken for that of others where a plugin fails, or the program', async () => {
    const armor = await sealer.armorFor([line], secret);
    const failing = (error: Error) => openArmor(armor, { unwrap: () => Promise.reject(error) });
    expect(await failing(inauthentic('the envelope is damaged'))).toBeUndefined();
    for (const error of [unavailable('the plugin is missing'), new TypeError('a mistake')])
      await expect(failing(error)).rejects.toBe(error);
  });

  it('is said to go to no key that nothing can be encrypted to', async () => {
    expect(await sealer.whyNot([line])).toBeUndefined();
    const lowOrder = printBech32('age', Buffer.alloc(32));
    expect(await sealer.whyNot([line, lowOrder])).toBe(
      'this recipient is not a valid key (a low-order point): anyone could decrypt the file',
    );
    const ofPlugin = printBech32('age1yubikey', Buffer.alloc(33, 1));
    await expect(sealer.whyNot([ofPlugin])).rejects.toThrow(new RangeError('no plugin is run here'));
  });
});
