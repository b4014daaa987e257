import { goLibrary } from '../go.ts';

export const client = goLibrary('tink', 'Tink for Go', 'github.com/tink-crypto/tink-go-hcvault/v2', [
  'encrypts and decrypts, with associated data',
  'encrypts envelopes under a key of the server',
  'keeps a keyset encrypted under a key of the server',
]);
