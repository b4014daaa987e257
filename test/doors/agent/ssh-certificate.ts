import { string, uint32 } from '../../../src/signatures/ssh-wire.ts';

/** A certificate of OpenSSH for a user (1) or a host (2); its issuer is of no concern to an agent. */
export const certificateOf = (blob: Buffer, subject: number): Buffer => {
  const name = blob.subarray(4, 4 + blob.readUInt32BE());
  return Buffer.concat([
    string(`${name}-cert-v01@openssh.com`),
    string('nonce'),
    blob.subarray(4 + name.length),
    Buffer.alloc(8),
    uint32(subject),
    ...['id', 'names'].map(string),
    Buffer.alloc(16, 1),
    ...['options', 'extensions', '', 'issuer', 'signature'].map(string),
  ]);
};
