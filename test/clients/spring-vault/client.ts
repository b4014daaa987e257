import { javaClient } from '../maven.ts';

export const client = javaClient('spring-vault', 'Spring Vault for Java', '4.0.3', [
  'makes keys of every type, describes, configures, rotates, lists and deletes them',
  'encrypts, decrypts and rewraps, with contexts and in batches',
  'signs and verifies, by signature and by HMAC',
  'exports keys, and is refused those that are not to leave',
  'mounts, writes policies and makes tokens',
]);
