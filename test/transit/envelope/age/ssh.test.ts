import { generateKeyPairSync } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { keyOfSshBlob, sshBlob } from '../../../../src/signatures/ssh-key.ts';
import { string } from '../../../../src/signatures/ssh-wire.ts';
import { isForSshKey, sshIdentity, sshRecipient } from '../../../../src/transit/envelope/age/ssh.ts';
import { refused } from '../../../refusal.ts';

it.each([
  [15, false],
  [16, true],
  [17, false],
])('an SSH key of type RSA opens a file key of %i bytes: %s', async (bytes, opens) => {
  const { publicKey, privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const blob = sshBlob(publicKey);
  const fileKey = Buffer.alloc(bytes, 7);
  const stanza = await sshRecipient(publicKey, blob).wrap(fileKey);
  const opened = await sshIdentity(privateKey, blob).unwrap([stanza]);
  expect(opened).toEqual(opens ? fileKey : undefined);
});

describe('a stanza for an SSH key', () => {
  const fileKey = Buffer.alloc(16, 7);

  it('is refused with a tag of another length, and passed over with another tag', async () => {
    const { publicKey, privateKey } = generateKeyPairSync('ed25519');
    const blob = sshBlob(publicKey);
    const stanza = await sshRecipient(publicKey, blob).wrap(fileKey);
    const [tag = '', share = ''] = stanza.args;
    const unwrap = (args: readonly string[]) =>
      Promise.resolve(sshIdentity(privateKey, blob).unwrap([{ ...stanza, args }]));
    expect(await unwrap(['AAAAAA', share])).toBeUndefined();
    for (const args of [[], [tag.slice(1), share], [`${tag}A`, share]])
      expect(await refused(unwrap(args))).toMatchObject({
        kind: 'inauthentic',
        message: expect.stringContaining('a recipient in its header names no SSH key'),
      });
  });

  it('tells by its tag which key it may be for, without the private key', async () => {
    const [one, other] = [generateKeyPairSync('ed25519'), generateKeyPairSync('ed25519')];
    const stanza = await sshRecipient(one.publicKey, sshBlob(one.publicKey)).wrap(fileKey);
    const isFor = (publicKey: typeof one.publicKey, type = stanza.type) =>
      isForSshKey(sshBlob(publicKey), [{ ...stanza, type }]);
    expect([isFor(one.publicKey), isFor(one.publicKey, 'ssh-rsa'), isFor(one.publicKey, 'X25519')]).toEqual([
      true,
      true,
      false,
    ]);
    expect([isFor(other.publicKey), isForSshKey(sshBlob(one.publicKey), [])]).toEqual([false, false]);
  });

  it('with RSA opens nothing if its body is damaged, and is made for 2,048 bits at least', async () => {
    const { publicKey, privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
    const blob = sshBlob(publicKey);
    const stanza = await sshRecipient(publicKey, blob).wrap(fileKey);
    for (const body of [Buffer.alloc(256), stanza.body.subarray(1), Buffer.alloc(0)])
      expect(await sshIdentity(privateKey, blob).unwrap([{ ...stanza, body }])).toBeUndefined();
    const { publicKey: weak } = generateKeyPairSync('rsa', { modulusLength: 2047 });
    const attempt = Promise.resolve().then(() => sshRecipient(weak, sshBlob(weak)));
    expect(await refused(attempt)).toMatchObject({
      kind: 'unsupported',
      message: 'an RSA key of 2047 bits is too short',
    });
  });

  it('is found among those for other keys of its type', async () => {
    for (const make of [
      () => generateKeyPairSync('ed25519'),
      () => generateKeyPairSync('rsa', { modulusLength: 2048 }),
    ]) {
      const stanzas = [];
      const identities = [];
      for (const { publicKey, privateKey } of [make(), make()]) {
        const blob = sshBlob(publicKey);
        stanzas.push(await sshRecipient(publicKey, blob).wrap(fileKey));
        identities.push(sshIdentity(privateKey, blob));
      }
      for (const identity of identities) expect(await identity.unwrap(stanzas)).toEqual(fileKey);
    }
  });

  it('is refused with a value more, for a key of either type', async () => {
    for (const { publicKey, privateKey } of [
      generateKeyPairSync('ed25519'),
      generateKeyPairSync('rsa', { modulusLength: 2048 }),
    ]) {
      const blob = sshBlob(publicKey);
      const stanza = await sshRecipient(publicKey, blob).wrap(fileKey);
      const identity = sshIdentity(privateKey, blob);
      expect(await identity.unwrap([stanza])).toEqual(fileKey);
      const more = { ...stanza, args: [...stanza.args, 'x'] };
      expect(await refused(Promise.resolve(identity.unwrap([more])))).toMatchObject({
        kind: 'inauthentic',
        message: expect.stringContaining('a recipient in its header has too few or too many values'),
      });
    }
  });

  it('is neither made nor opened with a point of low order, which everybody could open', async () => {
    const lowOrder = Buffer.concat([string('ssh-ed25519'), string(Buffer.alloc(32))]);
    const recipient = sshRecipient(keyOfSshBlob(lowOrder), lowOrder);
    expect(await refused(Promise.resolve(recipient.wrap(fileKey)))).toMatchObject({
      kind: 'invalid',
      message: expect.stringContaining('anyone could decrypt the file'),
    });
    const { publicKey, privateKey } = generateKeyPairSync('ed25519');
    const blob = sshBlob(publicKey);
    const stanza = await sshRecipient(publicKey, blob).wrap(fileKey);
    const args = [stanza.args[0] ?? '', 'A'.repeat(43)];
    const opened = sshIdentity(privateKey, blob).unwrap([{ ...stanza, args }]);
    expect(await refused(Promise.resolve(opened))).toMatchObject({ kind: 'inauthentic' });
  });
});
