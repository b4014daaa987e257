/**
 * Type of the keys in a repository's keyring, defined by its format; independent of the default key type, which may
 * change.
 */
export const KEYRING_KEY_TYPE = 'aes256-gcm96';
