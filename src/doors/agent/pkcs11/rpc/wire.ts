import { ByteReader } from '../../../../ground/byte-reader.ts';
import { Refused, refuse } from '../return-values.ts';

/**
 * Wire encoding of p11-kit's remote protocol: big-endian numbers, and byte arrays with a length prefix. Input is not
 * trusted: a length never exceeds the available bytes.
 */

const UINT32_BYTES = 4;
const ULONG_BYTES = 8;
/** Length of a missing array. */
export const NO_ARRAY = 0xffff_ffff;
const ULONG_BITS = 64;

/** Encoding of mechanisms, which depends on the client's release. */
export type MechanismLayout = 'marked' | 'flagged';

/** Reads one message. All methods throw `Refused` for truncated or invalid input. */
export class WireReader extends ByteReader {
  /** Encoding of mechanisms in this message. */
  readonly mechanisms: MechanismLayout;

  constructor(bytes: Buffer, mechanisms: MechanismLayout = 'flagged') {
    super(bytes, malformed);
    this.mechanisms = mechanisms;
  }

  /** `CK_ULONG`: all ones are -1; numbers that JavaScript cannot represent exactly are never valid for this token. */
  ulong(): number {
    return Number(this.bytes(ULONG_BYTES).readBigInt64BE());
  }

  /** Reads a byte array; undefined for a null pointer. */
  array(): Buffer | undefined {
    const length = this.uint32();
    return length === NO_ARRAY ? undefined : this.bytes(length);
  }

  /**
   * Reads several items.
   * @param most maximum number
   */
  many<T>(count: number, most: number, read: () => T): T[] {
    if (count > most) throw malformed();
    return Array.from({ length: count }, read);
  }
}

export const malformed = (): Refused => new Refused('argumentsBad');

/** Writes one message. */
export class WireWriter {
  #bytes = Buffer.allocUnsafe(FIRST_BYTES);
  #length = 0;

  get length(): number {
    return this.#length;
  }

  put(bytes: Uint8Array): void {
    const at = this.#grow(bytes.length);
    this.#bytes.set(bytes, at);
  }

  byte(value: number): void {
    const at = this.#grow(1);
    this.#bytes.writeUInt8(value, at);
  }

  uint32(value: number): void {
    const at = this.#grow(UINT32_BYTES);
    this.#bytes.writeUInt32BE(value, at);
  }

  /**
   * Writes a number.
   * @param value -1 for "not available"
   */
  ulong(value: number): void {
    const at = this.#grow(ULONG_BYTES);
    this.#bytes.writeBigUInt64BE(BigInt.asUintN(ULONG_BITS, BigInt(value)), at);
  }

  array(bytes: Uint8Array | undefined): void {
    this.uint32(bytes?.length ?? NO_ARRAY);
    if (bytes !== undefined) this.put(bytes);
  }

  /** Returns the bytes written so far. */
  done(): Buffer {
    return this.#bytes.subarray(0, this.#length);
  }

  /**
   * Allocates space.
   * @returns its position
   */
  #grow(bytes: number): number {
    const at = this.#length;
    this.#length += bytes;
    if (this.#length > this.#bytes.length) {
      const larger = Buffer.allocUnsafe(Math.max(this.#length, 2 * this.#bytes.length));
      this.#bytes.copy(larger, 0, 0, at);
      this.#bytes = larger;
    }
    return at;
  }
}

const FIRST_BYTES = 256;

/** `CKM_…` that this token knows. */
export const MECHANISM = {
  rsaKeyPairGen: 0x0000,
  rsaPkcs: 0x0001,
  sha1RsaPkcs: 0x0006,
  rsaOaep: 0x0009,
  rsaPss: 0x000d,
  sha1RsaPss: 0x000e,
  sha256RsaPkcs: 0x0040,
  sha384RsaPkcs: 0x0041,
  sha512RsaPkcs: 0x0042,
  sha256RsaPss: 0x0043,
  sha384RsaPss: 0x0044,
  sha512RsaPss: 0x0045,
  sha224RsaPkcs: 0x0046,
  sha224RsaPss: 0x0047,
  sha1: 0x0220,
  sha256: 0x0250,
  sha224: 0x0255,
  sha384: 0x0260,
  sha512: 0x0270,
  ecKeyPairGen: 0x1040,
  ecdsa: 0x1041,
  ecdsaSha1: 0x1042,
  ecdsaSha224: 0x1043,
  ecdsaSha256: 0x1044,
  ecdsaSha384: 0x1045,
  ecdsaSha512: 0x1046,
} as const;

const M = MECHANISM;

/** Numbers are `CKM_…` of the hash, and `CKG_…`. */
interface PssParameters {
  readonly hash: number;
  readonly maskGeneration: number;
  readonly saltBytes: number;
}

interface OaepParameters {
  readonly hash: number;
  readonly maskGeneration: number;
  /** `CKZ_…`: 1 if a label is given. */
  readonly source: number;
  readonly label: Buffer;
}

export interface Mechanism {
  readonly type: number;
  readonly pss?: PssParameters;
  readonly oaep?: OaepParameters;
}

const PSS_TYPES: readonly number[] = [
  M.rsaPss,
  M.sha1RsaPss,
  M.sha224RsaPss,
  M.sha256RsaPss,
  M.sha384RsaPss,
  M.sha512RsaPss,
];

/**
 * Mechanisms that are encoded without a parameter. Clients know more of them, but this token does not support those.
 */
const WITHOUT: ReadonlySet<number> = new Set(
  Object.values(MECHANISM).filter((type) => type !== M.rsaOaep && !PSS_TYPES.includes(type)),
);

/** Type of no mechanism, which ends an operation. */
const NONE = 0xffff_ffff;

/**
 * `M`. Up to release 0.25.5, a mechanism without a parameter has a marker after its type; since then it has nothing,
 * and the others have a flag before theirs. The negotiated protocol version does not tell which.
 * @returns undefined for none
 * @throws `Refused` for an unknown type, because the length of its parameter is unknown
 */
export function readMechanism(reader: WireReader): Mechanism | undefined {
  const type = reader.uint32();
  if (type === NONE) return undefined;
  if (WITHOUT.has(type)) {
    if (reader.mechanisms === 'marked' && reader.array() !== undefined)
      return refuse('mechanismParameterInvalid');
    return { type };
  }
  const isPss = PSS_TYPES.includes(type);
  if (!isPss && type !== M.rsaOaep) return refuse('mechanismInvalid');
  if (reader.mechanisms === 'flagged' && reader.byte() === 0) return { type };
  return isPss ? { type, pss: readPss(reader) } : { type, oaep: readOaep(reader) };
}

const readPss = (reader: WireReader): PssParameters => ({
  hash: reader.ulong(),
  maskGeneration: reader.ulong(),
  saltBytes: reader.ulong(),
});

function readOaep(reader: WireReader): OaepParameters {
  const [hash, maskGeneration, source] = [reader.ulong(), reader.ulong(), reader.ulong()];
  return { hash, maskGeneration, source, label: reader.array() ?? Buffer.alloc(0) };
}
