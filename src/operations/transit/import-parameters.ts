import { base64, text } from '../declaration/params.ts';

/** Parameters of both calls that bring keys in. */
export const incomingKey = {
  ciphertext: base64({
    help: 'The key, wrapped under the wrapping key: an AES key under RSA-OAEP, then the key under AES-KWP. A command line also takes the key itself (PEM, or base64 of a symmetric key) and wraps it.',
    default: '',
  }),
  public_key: text({
    help: 'A public key alone, in PEM; for types that sign.',
    default: '',
    cli: { metavar: 'PEM' },
  }),
  hash_function: text({
    help: 'Hash of RSA-OAEP.',
    default: 'SHA256',
    cli: { metavar: 'HASH', suggest: () => ['SHA1', 'SHA224', 'SHA256', 'SHA384', 'SHA512'] },
  }),
};
