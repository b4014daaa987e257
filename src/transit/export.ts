import { type CofferError, conflict, invalid, ownWords, unsupported } from '../ground/errors.ts';
import { printPem } from '../ground/pem.ts';
import { parseVersion } from './ciphertext.ts';
import type { Engine } from './engine.ts';
import type { ExportFormat } from './key-types/key-type.ts';
import { type KeyVersion, type NamedKey, requireKey, requireNotSoftDeleted } from './named-key.ts';
import { absentVersion, limitHint } from './version-choice.ts';

export interface ExportRequest {
  /** One of `exportKinds`. */
  readonly kind: string;
  /** A number, `v` and a number, `latest`, or empty for all usable versions. */
  readonly version: string;
  /** Format: empty, `raw`, `der` or `pem`. */
  readonly format: string;
}

/** Kind of material that can be exported. */
interface ExportKind {
  /** Whether the key must be `exportable`. */
  readonly secret: boolean;
  /**
   * Checks that the key has this kind of material.
   * @throws `unsupported` if its type does not
   */
  requireFrom(key: NamedKey): void;
  print(key: NamedKey, version: KeyVersion, format: ExportFormat): string;
}

/** Returns the hint with the kind of secret that a key has. */
const useKind = ({ type, encrypts }: NamedKey): string =>
  `use the export type ${encrypts ? 'encryption-key' : type.signing === undefined ? 'hmac-key' : 'signing-key'}`;

const KINDS: Readonly<Record<string, ExportKind>> = {
  'encryption-key': {
    secret: true,
    requireFrom(key) {
      if (!key.encrypts) throw lacks(ownWords('encryption not supported for the key'), useKind(key));
    },
    print: printSecret,
  },
  'signing-key': {
    secret: true,
    requireFrom(key) {
      if (key.type.signing === undefined)
        throw lacks(ownWords('signing not supported for the key'), useKind(key));
    },
    print: printSecret,
  },
  'hmac-key': { secret: true, requireFrom: () => {}, print: printHmacKey },
  'public-key': { secret: false, requireFrom: requirePublicKey, print: printPublicKey },
  'certificate-chain': {
    secret: false,
    requireFrom({ type }) {
      if (type.signing !== undefined) return;
      throw lacks(
        ownWords('certificate chain not supported for keys that do not support signing'),
        'use a signing key',
      );
    },
    print: printCertificates,
  },
};

export const exportKinds = (): string[] => Object.keys(KINDS);

/** Whether the kind is public. */
export const isPublicKind = (kind: unknown): boolean =>
  typeof kind === 'string' && Object.hasOwn(KINDS, kind) && KINDS[kind]?.secret === false;

const FORMATS: readonly string[] = ['', 'raw', 'der', 'pem'] satisfies ExportFormat[];
const isFormat = (text: string): text is ExportFormat => FORMATS.includes(text);

/** Creates the error for a key whose secrets stay in the store. */
export const notExportable = (name: string): CofferError =>
  conflict(ownWords('private key material is not exportable'), {
    field: 'name',
    hint: `run "coffer transit keys config ${name} --exportable" first; this cannot be undone`,
  });

/**
 * Exports key material.
 * @returns the key, and the printed material by decimal version number
 * @throws `not-found`; `conflict` if the key is not exportable; `invalid` or `unsupported` for material that it does
 * not have
 */
export async function exportKey(
  engine: Engine,
  name: string,
  { kind: kindName, version, format }: ExportRequest,
): Promise<{ readonly key: NamedKey; readonly printed: Readonly<Record<string, string>> }> {
  const kind = Object.hasOwn(KINDS, kindName) ? KINDS[kindName] : undefined;
  if (kind === undefined) {
    throw refusal(`invalid export type: ${kindName}`, 'key_type', `use one of ${exportKinds().join(', ')}`);
  }
  if (!isFormat(format))
    throw refusal(`invalid format: ${format}`, 'format', 'use raw, der or pem, or omit the format');
  const key = await requireKey(engine, name, 'key not found');
  if (kind.secret && !key.document.exportable) throw notExportable(name);
  requireNotSoftDeleted(key);
  kind.requireFrom(key);
  const usual = key.familyNameFor(engine)?.raw ? 'raw' : '';
  const printed = versionsToExport(key, version).map(
    (one) => [String(one.number), kind.print(key, one, format || usual)] as const,
  );
  return { key, printed: Object.fromEntries(printed) };
}

/**
 * Finds the versions to export.
 * @param text a number, `v` and a number, `latest`, or empty for all usable versions
 * @throws `invalid` if there is no such version, or it may not be used
 */
export const versionsToExport = (key: NamedKey, text: string): KeyVersion[] =>
  text === '' ? [...key.usableVersions()] : [requestedVersion(key, text)];

function requestedVersion(key: NamedKey, text: string): KeyVersion {
  const { latestVersion, minDecryptionVersion } = key.document;
  const number = text === 'latest' ? latestVersion : parseVersion(text.replace(/^v/, ''));
  if (number === undefined) {
    throw refusal(ownWords('invalid key version'), 'version', 'use a number, or "latest"');
  }
  if (number < minDecryptionVersion) {
    throw refusal(
      ownWords('version for export is below minimum decryption version'),
      'version',
      limitHint(key.document, number, 'decryption'),
    );
  }
  const version = key.version(number);
  if (version !== undefined) return version;
  const missing = ownWords('version does not exist or cannot be found');
  if (number <= latestVersion) throw absentVersion(key, number, missing, 'version');
  throw refusal(missing, 'version', `the latest version is ${latestVersion}`);
}

/** Prints the secret of a version; empty if it was imported without its private key. */
function printSecret({ type }: NamedKey, version: KeyVersion, format: ExportFormat): string {
  if (!version.hasSecret || type.exportSecret === undefined) return '';
  return type.exportSecret(version.material, format);
}

function printHmacKey(_key: NamedKey, version: KeyVersion, format: ExportFormat): string {
  if (format !== '' && format !== 'raw') {
    throw refusal(
      ownWords('unknown format for HMAC key; supported values are `` or `raw`'),
      'format',
      'omit the format: the key is printed as base64',
    );
  }
  return version.document.hmacKey ?? '';
}

function requirePublicKey({ type, document }: NamedKey): void {
  if (type.publicKey === undefined) {
    throw lacks(`unknown key type ${type.name} for export type public-key`, 'use an asymmetric key');
  }
  // Vault and OpenBao export it, although it is half of the input from which context keys are derived.
  // @see docs/decisions/0016
  if (document.derived) {
    throw lacks(
      ownWords('public key of a derived key cannot be exported'),
      `each context has its own public key: run "coffer transit keys read ${document.name} --context BASE64"`,
    );
  }
}

function printPublicKey({ type }: NamedKey, version: KeyVersion, format: ExportFormat): string {
  return type.publicKey?.export(version.material, format) ?? '';
}

function printCertificates({ document }: NamedKey, version: KeyVersion): string {
  const chain = version.document.certificateChain;
  if (chain !== undefined && chain.length > 0) return certificatesPem(chain);
  throw lacks(
    ownWords('selected key version does not have a certificate chain imported'),
    `choose a version that has one, or run "coffer transit keys set-certificate ${document.name} --in FILE"`,
  );
}

/**
 * Prints certificates in PEM, joined by newlines.
 * @param chain base64 DER
 */
export const certificatesPem = (chain: readonly string[]): string =>
  chain.map((der) => printPem('CERTIFICATE', der)).join('\n');

const refusal = (message: string, field: string, hint: string): CofferError =>
  invalid(message, { field, hint });

const lacks = (message: string, hint: string): CofferError =>
  unsupported(message, { field: 'key_type', hint });
