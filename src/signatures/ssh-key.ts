import { createHash, createPublicKey, type KeyObject } from 'node:crypto';
import { CURVES, type Curve, curveOf } from '../ground/curves.ts';
import { asCofferError, invalid, unsupported } from '../ground/errors.ts';
import { modulusBitsOf, rsaNumbers } from '../ground/foreign-keys.ts';
import { withoutLast } from '../ground/trim.ts';
import { mpint, SshReader, string } from './ssh-wire.ts';

/** Members of a JSON Web Key, all of which are texts in keys of SSH. */
export type JwkTexts = Readonly<Record<string, string>>;

/** SSH key type. */
interface SshKind {
  /** Name of the type in the output of `ssh-keygen`. */
  readonly title: string;
  /** Name at the start of a key. */
  readonly key: string;
  /** Name at the start of a signature. */
  readonly signature: string;
  /** Encodes the part of a key after the name. */
  write(key: KeyObject): Buffer;
  /** Decodes it; the caller checks that nothing follows. */
  read(reader: SshReader): JwkTexts;
}

const EMPTY = Buffer.alloc(0);

const EDWARDS: SshKind = {
  title: 'ED25519',
  key: 'ssh-ed25519',
  signature: 'ssh-ed25519',
  write: (key) => string(decoded(key.export({ format: 'jwk' }).x)),
  read: (reader) => ({ kty: 'OKP', crv: 'Ed25519', x: reader.string().toString('base64url') }),
};

/** RSA keys. Signatures with SHA-1 (`ssh-rsa`) are neither created nor accepted. */
const RSA: SshKind = {
  title: 'RSA',
  key: 'ssh-rsa',
  signature: 'rsa-sha2-512',
  write(key) {
    const { modulus = EMPTY, exponent = EMPTY } = rsaNumbers(key) ?? {};
    return Buffer.concat([mpint(exponent), mpint(modulus)]);
  },
  read(reader) {
    const e = reader.mpint().toString('base64url');
    return { kty: 'RSA', e, n: reader.mpint().toString('base64url') };
  },
};

/** RFC 5656 */
function ecdsa(name: string, { jwkName, coordinateBytes }: Curve): SshKind {
  const algorithm = `ecdsa-sha2-${name}`;
  return {
    title: 'ECDSA',
    key: algorithm,
    signature: algorithm,
    write(key) {
      const { x, y } = key.export({ format: 'jwk' });
      const point = Buffer.concat([Buffer.from([UNCOMPRESSED]), decoded(x), decoded(y)]);
      return Buffer.concat([string(name), string(point)]);
    },
    read(reader) {
      const curve = reader.text();
      const point = reader.string();
      if (curve !== name || point.length !== 1 + 2 * coordinateBytes || point[0] !== UNCOMPRESSED) {
        throw invalid(`the ${algorithm} key is invalid: it is not a point on its curve`);
      }
      const [x, y] = [point.subarray(1, 1 + coordinateBytes), point.subarray(1 + coordinateBytes)];
      return { kty: 'EC', crv: jwkName, x: x.toString('base64url'), y: y.toString('base64url') };
    },
  };
}

const UNCOMPRESSED = 4;

const decoded = (text: string | undefined): Buffer => Buffer.from(text ?? '', 'base64url');

const ON_CURVES: ReadonlyMap<Curve | undefined, SshKind> = new Map(
  CURVES.flatMap((curve) =>
    curve.sshName === undefined ? [] : [[curve, ecdsa(curve.sshName, curve)] as const],
  ),
);

const KINDS: readonly SshKind[] = [EDWARDS, RSA, ...ON_CURVES.values()];

/** Key types by Node's names, except those on curves. */
const BY_NODE_TYPE: Readonly<Record<string, SshKind>> = { ed25519: EDWARDS, rsa: RSA };

/** Whether it is an Ed25519 key, the only type of minisign. */
export const isEdwardsKey = (key: KeyObject): boolean =>
  key.asymmetricKeyType !== undefined && BY_NODE_TYPE[key.asymmetricKeyType] === EDWARDS;

/**
 * Returns the key type.
 * @throws `unsupported` if SSH does not support it
 */
function kindOf(key: KeyObject): SshKind {
  const type = key.asymmetricKeyType ?? '';
  const kind = type === 'ec' ? ON_CURVES.get(curveOf(key)) : BY_NODE_TYPE[type];
  if (kind !== undefined) return kind;
  throw unsupported('SSH does not support keys of this type', { hint: 'use an ed25519, ECDSA or RSA key' });
}

/**
 * Checks that SSH has keys of this type.
 * @throws `unsupported`
 */
export const requireSshKey = (key: KeyObject): void => void kindOf(key);

/**
 * Returns the name of the key's type in the output of `ssh-keygen`.
 * @throws `unsupported`
 */
export const sshKeyTitle = (key: KeyObject): string => kindOf(key).title;

/**
 * Returns the name of a key's signature algorithm.
 * @throws `unsupported`
 */
export const sshSignatureName = (key: KeyObject): string => kindOf(key).signature;

/**
 * Encodes a public key for SSH (RFC 4253, section 6.6; RFC 5656; RFC 8709).
 * @throws `unsupported`
 */
export function sshBlob(key: KeyObject): Buffer {
  const kind = kindOf(key);
  return Buffer.concat([string(kind.key), kind.write(key)]);
}

/**
 * Decodes a public key, the inverse of {@link sshBlob}.
 * @throws `invalid`, `unsupported` (certificates, hardware keys)
 */
export function keyOfSshBlob(blob: Buffer): KeyObject {
  const reader = new SshReader(blob, 'this SSH key');
  const kind = kindNamed(reader.text());
  const jwk = kind.read(reader);
  reader.end();
  return keyOf(kind, jwk);
}

/**
 * Decodes the certified key of a certificate (OpenSSH's PROTOCOL.certkeys). Who issued it, for whom and until when is not
 * checked: that is for the server or client that trusts the issuer.
 * @param subject whom the certificate must be for
 * @throws `invalid`; `unsupported` for anything that is not a certificate for this subject
 */
export function keyOfSshCertificate(blob: Buffer, subject: keyof typeof SUBJECTS): KeyObject {
  const reader = new SshReader(blob, 'this SSH certificate');
  const name = reader.text();
  const kind = kindNamed(name.endsWith(CERTIFICATE) ? name.slice(0, -CERTIFICATE.length) : '');
  // A random number.
  reader.string();
  const jwk = kind.read(reader);
  reader.skip(SERIAL_BYTES);
  if (reader.uint32() !== SUBJECTS[subject]) throw unsupported(`the SSH certificate is not for a ${subject}`);
  // Its ID, and the names that it is valid for.
  reader.string();
  reader.string();
  reader.skip(VALIDITY_BYTES);
  for (let left = STRINGS_AT_THE_END; left > 0; left--) reader.string();
  reader.end();
  return keyOf(kind, jwk);
}

/** End of the name of a certificate, after the name of the certified key. */
const CERTIFICATE = '-cert-v01@openssh.com';
/** Length in bytes within which a blob names its type. */
const NAMED_WITHIN = 64;

/** Whether a blob says that it is a certificate. */
export const isSshCertificate = (blob: Buffer): boolean =>
  blob.subarray(0, NAMED_WITHIN).includes(CERTIFICATE);

const SUBJECTS = { user: 1, host: 2 };
const SERIAL_BYTES = 8;
/** Two times, between which it is valid. */
const VALIDITY_BYTES = 16;
/** Critical options, extensions, a reserved one, the key of the issuer and its signature. */
const STRINGS_AT_THE_END = 5;

function kindNamed(name: string): SshKind {
  const kind = KINDS.find(({ key }) => key === name);
  if (kind !== undefined) return kind;
  throw unsupported(`unsupported key type ${JSON.stringify(name.slice(0, 64))}`, {
    hint: 'use an ed25519, ECDSA or RSA key',
  });
}

function keyOf({ key: name }: SshKind, jwk: JwkTexts): KeyObject {
  let key: KeyObject;
  try {
    key = createPublicKey({ key: jwk, format: 'jwk' });
  } catch (error) {
    throw invalid(`invalid ${name} key`, { cause: error });
  }
  const bits = modulusBitsOf(key) ?? MIN_RSA_BITS;
  if (bits < MIN_RSA_BITS) {
    throw invalid(`the ${name} key is too weak: ${bits} bits`, {
      hint: `OpenSSH requires at least ${MIN_RSA_BITS} bits`,
    });
  }
  return key;
}

const MIN_RSA_BITS = 1024;

/** Returns the fingerprint as printed by `ssh-keygen -l`. */
export const sshFingerprint = (key: KeyObject): string =>
  `SHA256:${withoutLast(createHash('sha256').update(sshBlob(key)).digest('base64'), '=')}`;

/** Formats a line of a `.pub` file. */
export function sshLine(key: KeyObject, comment: string): string {
  return `${kindOf(key).key} ${sshBlob(key).toString('base64')} ${comment}`;
}

const LINE = /^((?:ssh|ecdsa|sk)-[\w@.-]+)[ \t]+([A-Za-z0-9+/]+={0,2})(?:[ \t]+([^ \t\n\r][^\n\r]*)?)?$/;

/**
 * Parses the key and comment of such a line; undefined if it is malformed.
 * @throws as {@link keyOfSshBlob}
 */
export function parseSshLine(
  line: string,
): { readonly key: KeyObject; readonly comment: string } | undefined {
  const [, name, blob, comment = ''] = LINE.exec(line.trim()) ?? [];
  if (name === undefined || blob === undefined) return undefined;
  const bytes = Buffer.from(blob, 'base64');
  const key = keyOfSshBlob(bytes);
  const isWhole = bytes.toString('base64') === blob;
  if (!isWhole || kindOf(key).key !== name) throw invalid(`invalid ${name} key`);
  return { key, comment: comment.trim() };
}

/**
 * Parses a list of revoked keys: a public key on each line.
 * @throws `invalid` for a malformed line: its key may be the one in question
 */
export function parseRevokedKeys(text: string): readonly KeyObject[] {
  return text.split(/\r?\n/).flatMap((line, index) => {
    if (/^[ \t]*(#|$)/.test(line)) return [];
    try {
      const found = parseSshLine(line);
      if (found !== undefined) return [found.key];
    } catch (error) {
      // Keys of other types cannot verify anything here.
      if (asCofferError(error)?.kind === 'unsupported') return [];
      throw error;
    }
    throw invalid(`revoked keys, line ${index + 1}: not a public key`);
  });
}
