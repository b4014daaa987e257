/**
 * Checks whether 32 bytes are a valid public key on Curve25519: X25519 (RFC 7748) or Ed25519 (RFC 8032). Points of low
 * order are invalid (a secret agreed with one is known to everyone, and one of its signatures fits every message), and
 * so are numbers not below the field's prime, which would be a second encoding of a key.
 */
const PRIME = 2n ** 255n - 19n;
const SIGN = 1n << 255n;

/** Low-order coordinates of both forms: 0, 1 and -1. */
const LOW_IN_BOTH: readonly bigint[] = [0n, 1n, PRIME - 1n];

const littleEndian = (bytes: Uint8Array): bigint =>
  BigInt(`0x${Buffer.from(bytes).reverse().toString('hex') || '0'}`);

const numbers = (...texts: readonly string[]): readonly bigint[] =>
  texts.map((text) => littleEndian(Buffer.from(text, 'hex')));

/** u coordinates of the points of order 8 (X25519), and their y coordinates (Ed25519). */
const LOW_X25519 = new Set([
  ...LOW_IN_BOTH,
  ...numbers(
    'e0eb7a7c3b41b8ae1656e3faf19fc46ada098deb9c32b1fd866205165f49b800',
    '5f9c95bca3508c24b1d0b1559c83ef5b04445cc4581c8e86d8224eddd09f1157',
  ),
]);
const LOW_ED25519 = new Set([
  ...LOW_IN_BOTH,
  ...numbers(
    '26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05',
    'c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a',
  ),
]);

export function isSoundX25519(bytes: Uint8Array): boolean {
  const u = littleEndian(bytes);
  return bytes.length === 32 && u < PRIME && !LOW_X25519.has(u);
}

/** Whether the bytes are a valid Ed25519 public key. The first bit is the sign of the other coordinate. */
export function isSoundEd25519(bytes: Uint8Array): boolean {
  const y = littleEndian(bytes) & (SIGN - 1n);
  return bytes.length === 32 && y < PRIME && !LOW_ED25519.has(y);
}

/** Prime of the field of P-256 (FIPS 186-5). */
const P256_PRIME = Buffer.from('ffffffff00000001000000000000000000000000ffffffffffffffffffffffff', 'hex');
export const COMPRESSED_BYTES = 33;
export const POINT_BYTES = 65;
/** First byte of the uncompressed form (SEC 1, 2.3.3). */
export const UNCOMPRESSED = 4;

/**
 * Whether the bytes encode a P-256 public key in the only way, compressed or not (SEC 1, 2.3.3). Whether the point is
 * on the curve is found when it is used; the curve has no points of low order.
 */
export function isSoundP256(bytes: Uint8Array): boolean {
  const isCompressed = bytes.length === COMPRESSED_BYTES && (bytes[0] === 2 || bytes[0] === 3);
  if (!isCompressed && (bytes.length !== POINT_BYTES || bytes[0] !== UNCOMPRESSED)) return false;
  for (let at = 1; at < bytes.length; at += P256_PRIME.length) {
    if (Buffer.compare(bytes.subarray(at, at + P256_PRIME.length), P256_PRIME) >= 0) return false;
  }
  return true;
}
