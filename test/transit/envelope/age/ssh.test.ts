import { generateKeyPairSync } from 'node:crypto';
import { expect, it } from 'vitest';
import { sshBlob } from '../../../../src/signatures/ssh-key.ts';
import { sshIdentity, sshRecipient } from '../../../../src/transit/envelope/age/ssh.ts';

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
