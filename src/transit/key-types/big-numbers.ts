/** Between the big integers of backups and the base64url numbers of JSON Web Keys (RFC 7518, 6.3). */

export const fromBase64Url = (text: string | undefined): bigint =>
  BigInt(`0x${Buffer.from(text ?? '', 'base64url').toString('hex') || '0'}`);

/** @param bytes of the result, padded in front; undefined for as few as needed. */
export function toBase64Url(value: bigint, bytes?: number): string {
  const hex = value.toString(16);
  const padded = hex.padStart(bytes === undefined ? hex.length + (hex.length % 2) : 2 * bytes, '0');
  return Buffer.from(padded, 'hex').toString('base64url');
}

export const bitLength = (value: bigint): number => value.toString(2).length;
