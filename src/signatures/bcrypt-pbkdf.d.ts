/** The package has no types of its own. */
declare module 'bcrypt-pbkdf' {
  interface BcryptPbkdf {
    /**
     * Derives `key`, which it fills.
     * @returns 0; -1 for an empty passphrase or salt, or no rounds
     */
    pbkdf(
      passphrase: Uint8Array,
      passphraseLength: number,
      salt: Uint8Array,
      saltLength: number,
      key: Uint8Array,
      keyLength: number,
      rounds: number,
    ): number;
  }
  const bcrypt: BcryptPbkdf;
  export default bcrypt;
}
