import { createPublicKey, type KeyObject } from 'node:crypto';
import { invalid } from '../ground/errors.ts';
import { isObject } from '../ground/objects.ts';
import { parseMinisignKey } from './minisign.ts';
import { parseSshLine } from './ssh-key.ts';

/** Formats of public keys. The formats of SSH and minisign also tell the signature format of their owner. */
type KeyForm = 'pem' | 'jwk' | 'ssh' | 'minisign';

/** Public key given by the user, in any format. */
export interface GivenKey {
  readonly key: KeyObject;
  readonly form: KeyForm;
  /** minisign's key ID, if it was in minisign's format. */
  readonly minisignId?: Buffer;
}

const HINT = 'use PEM, an OpenSSH .pub line, a minisign public key, or a JSON Web Key (Set)';

/** Beginnings of lines that are public keys, possibly malformed ones, and never file names. */
const KEY_LINE =
  /^[ \t]*(?:(?:ssh|ecdsa|sk)-[\w@.-]+[ \t]+AAAA|RW[A-Za-z0-9+/]{54}[ \t\r]*$|untrusted comment: )/m;

/** Whether a text can only be meant as public keys in one of the formats of {@link parsePublicKeys}. */
export const isPublicKeyText = (text: string): boolean =>
  text.includes(BEGIN) || text.trimStart().startsWith('{') || KEY_LINE.test(text);

/**
 * Parses the public keys in a text: PEM (one or several, including certificates), OpenSSH lines, a minisign file, or
 * JSON Web Keys.
 * @throws `invalid` if there are none, or a private key; `unsupported`
 */
export function parsePublicKeys(text: string): readonly GivenKey[] {
  if (/-----BEGIN [A-Z ]*PRIVATE KEY-----/.test(text)) {
    throw invalid('this is a private key, not a public key', { hint: 'use its public key' });
  }
  if (text.includes(BEGIN))
    return pemBlocks(text).map((pem) => ({ key: keyOf(() => createPublicKey(pem)), form: 'pem' }));
  if (text.trimStart().startsWith('{')) return jsonWebKeys(text);
  const minisign = parseMinisignKey(text);
  if (minisign !== undefined) return [{ key: minisign.key, form: 'minisign', minisignId: minisign.id }];
  const lines = text.split(/\r?\n/).filter((line) => !/^\s*(#|$)/.test(line));
  const keys = lines.flatMap((line) => parseSshLine(line) ?? []);
  if (keys.length === 0 || keys.length !== lines.length) throw invalid('not a public key', { hint: HINT });
  return keys.map(({ key }) => ({ key, form: 'ssh' }));
}

const BEGIN = '-----BEGIN ';
const END = '-----END ';

/** Returns every block up to its last line; text between them is a comment. */
const pemBlocks = (text: string): readonly string[] =>
  text
    .split(BEGIN)
    .slice(1)
    .map((block) => {
      const end = block.indexOf('-----', block.indexOf(END) + END.length);
      return `${BEGIN}${block.slice(0, end + '-----'.length)}\n`;
    });

function jsonWebKeys(text: string): readonly GivenKey[] {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw invalid('not valid JSON', { hint: HINT });
  }
  const several = isObject(value) && Array.isArray(value['keys']) ? value['keys'] : [value];
  return several.map((jwk: unknown) => {
    if (!isObject(jwk)) throw invalid('not a JSON Web Key', { hint: HINT });
    if ('d' in jwk || 'k' in jwk || 'priv' in jwk) {
      throw invalid('this JSON Web Key contains a private key', { hint: 'use its public key' });
    }
    return { key: keyOf(() => createPublicKey({ key: jwk, format: 'jwk' })), form: 'jwk' };
  });
}

function keyOf(read: () => KeyObject): KeyObject {
  try {
    return read();
  } catch (error) {
    throw invalid('not a public key', { hint: HINT, cause: error });
  }
}
