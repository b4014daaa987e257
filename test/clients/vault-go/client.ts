import { goLibrary } from '../go.ts';

export const titles = [
  'makes, configures, rotates, trims and deletes a key of every type',
  'encrypts, decrypts and rewraps, one value or many',
  'encrypts for a context, and to equal ciphertexts',
  'signs and verifies with every type that signs',
  'makes and verifies HMACs, also with keys of a chosen length',
  'makes data keys, random bytes and hashes',
  'exports, backs up and restores',
  'imports keys, adds versions to them, and wraps a key for another',
  'soft-deletes a key and brings it back',
  'reads and sets the cache and the defaults of keys',
  'mounts, tunes, moves and unmounts',
  'writes, reads, lists and deletes policies',
  'creates, looks up, renews and revokes tokens',
  'logs in with a signed token, as a pod and as a job',
  'reads health, seal status, leader and capabilities',
  'logs in with a password and with a secret ID, wrapped or not',
  'wraps answers, and unwraps them once',
];

export const client = goLibrary(
  'vault-go',
  'Vault’s client for Go',
  'github.com/hashicorp/vault/api',
  titles,
);
