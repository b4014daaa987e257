import { goLibrary } from '../go.ts';

export const client = goLibrary('gocloud', 'gocloud.dev', 'gocloud.dev/secrets/hashivault', [
  'encrypts and decrypts through a URL',
  'learns why a ciphertext is refused',
]);
