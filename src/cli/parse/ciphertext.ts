/** Beginning of what `transit encrypt` prints. */
export const CIPHERTEXT = /^[a-z]+:v\d+:/;
