/** The one type of keys that the keyring of a repository has, in the words of its format. What the default is elsewhere may change. */
export const KEYRING_KEY_TYPE = 'aes256-gcm96';
