import { createPublicKey, type KeyObject } from 'node:crypto';
import { invalid } from '../ground/errors.ts';
import { isObject } from '../ground/objects.ts';
import { parseMinisignKey } from './minisign.ts';
import { parseSshLine } from './ssh-key.ts';

/** Forms of public keys. Those of SSH and minisign say in which format their owner signs. */
export type KeyForm = 'pem' | 'jwk' | 'ssh' | 'minisign';

/** A public key that somebody gave, in whatever form. */
export interface GivenKey {
  readonly key: KeyObject;
  readonly form: KeyForm;
  /** The number that minisign calls it by, when it came in minisign's form. */
  readonly minisignId?: Buffer;
}

const HINT =
  'give a PEM, a line of an OpenSSH .pub file, a minisign public key, or a JSON Web Key (a set of them, too)';

/** The beginnings of lines that are meant as a public key, even as a broken one, and never as the name of a file. */
const KEY_LINE =
  /^[ \t]*(?:(?:ssh|ecdsa|sk)-[\w@.-]+[ \t]+AAAA|RW[A-Za-z0-9+/]{54}[ \t\r]*$|untrusted comment: )/m;

/** Whether a text can only be meant as public keys in one of the forms that {@link parsePublicKeys} reads. */
export const isPublicKeyText = (text: string): boolean =>
  text.includes(BEGIN) || text.trimStart().startsWith('{') || KEY_LINE.test(text);

/**
 * The public keys of a text: PEM (one or several, certificates too), lines of OpenSSH, minisign's file, or JSON Web Keys.
 * @throws `invalid` when there is none, or one that must not be shown around; `unsupported`.
 */
export function parsePublicKeys(text: string): readonly GivenKey[] {
  if (/-----BEGIN [A-Z ]*PRIVATE KEY-----/.test(text)) {
    throw invalid('this is a private key', { hint: 'give its public half' });
  }
  if (text.includes(BEGIN))
    return pemBlocks(text).map((pem) => ({ key: keyOf(() => createPublicKey(pem)), form: 'pem' }));
  if (text.trimStart().startsWith('{')) return jsonWebKeys(text);
  const minisign = parseMinisignKey(text);
  if (minisign !== undefined) return [{ key: minisign.key, form: 'minisign', minisignId: minisign.id }];
  const lines = text.split(/\r?\n/).filter((line) => !/^\s*(#|$)/.test(line));
  const keys = lines.flatMap((line) => parseSshLine(line) ?? []);
  if (keys.length === 0 || keys.length !== lines.length)
    throw invalid('this is no public key', { hint: HINT });
  return keys.map(({ key }) => ({ key, form: 'ssh' }));
}

const BEGIN = '-----BEGIN ';
const END = '-----END ';

/** Every block up to the line that ends it; what stands between them is a comment. */
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
    throw invalid('this is no JSON', { hint: HINT });
  }
  const several = isObject(value) && Array.isArray(value['keys']) ? value['keys'] : [value];
  return several.map((jwk: unknown) => {
    if (!isObject(jwk)) throw invalid('this is no JSON Web Key', { hint: HINT });
    if ('d' in jwk || 'k' in jwk || 'priv' in jwk) {
      throw invalid('this JSON Web Key has a secret in it', { hint: 'give its public half' });
    }
    return { key: keyOf(() => createPublicKey({ key: jwk, format: 'jwk' })), form: 'jwk' };
  });
}

function keyOf(read: () => KeyObject): KeyObject {
  try {
    return read();
  } catch (error) {
    throw invalid('this is no public key', { hint: HINT, cause: error });
  }
}
