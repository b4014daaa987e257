import { b64, key, member, type Params } from './row.ts';

export const PLAIN = b64('told');
export const CONTEXT = b64('a context');
export const OTHER = b64('another context');
export const aes = key('aes256-gcm96');
export const derived = key('aes256-gcm96', { derived: true });
export const convergent = key('aes256-gcm96', { derived: true, convergent_encryption: true });
export const sealed = (more: Params = {}) =>
  member('encrypt', { name: aes, plaintext: PLAIN, ...more }, 'ciphertext');
export const error = (item: unknown): boolean => typeof (item as { error?: unknown }).error === 'string';
export const bytesOf = (text: unknown): number => Buffer.from(String(text), 'base64').length;
