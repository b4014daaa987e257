import { createHash } from 'node:crypto';
import { existsSync, type Stats, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { asCofferError, closing, invalid, notFound } from '../../ground/errors.ts';
import { signatureParameters } from '../../operations/transit/signature-parameters.ts';
import { brokenFor, maySign, parseAllowedSigners, signerKey } from '../../signatures/allowed-signers.ts';
import { parseManifest } from '../../signatures/manifest.ts';
import { type GivenKey, isPublicKeyText, parsePublicKeys } from '../../signatures/public-key.ts';
import { parseSshLine, sshFingerprint } from '../../signatures/ssh-key.ts';
import { DEFAULT_HASH } from '../../transit/hashing.ts';
import type { SignatureRequest } from '../../transit/signing.ts';
import { argument, type Command, switching, taking, takingFile, typedOptions } from '../command.ts';
import { DONE, NOT_VALID } from '../exit-codes.ts';
import { FileHasher, readRest } from '../files/hashing.ts';
import { headOf, openInFile, readFileWhole } from '../files/in-file.ts';
import {
  announceStandardInput,
  inputText,
  MAX_INPUT_BYTES,
  OR_FILE,
  readFileOrInput,
  readShortText,
  STANDARD,
  textOrFile,
} from '../files/input.ts';
import { printResult } from '../files/output.ts';
import { choiceOption, type Given, textOption } from '../given.ts';
import { optionsOf } from '../parse/operation-spec.ts';
import type { Session } from '../session.ts';
import { ENDINGS, namespaceIn, namespaceOption, withFileBeforeSignature } from '../signatures/naming.ts';
import {
  type Content,
  isTransitSignature,
  type Trust,
  VERIFIED_FORMATS,
  type Verdict,
  type VerifiedFormat,
  verifySignature,
} from '../signatures/signatures.ts';
import { shellWord } from '../terminal/shell-word.ts';
import type { Input } from '../terminal/streams.ts';

const FILE = 'FILE';
const SIGNATURE = 'SIGNATURE';
const PUBLIC_KEY = 'public-key';
const ALLOWED_SIGNERS = 'allowed-signers';
const IDENTITY = 'identity';
const KEY = 'key';
const MANIFEST = 'manifest';
const FORMAT = 'format';
const { hash_algorithm, signature_algorithm, marshaling_algorithm } = signatureParameters;

/** Maximum size of public keys and signatures, in bytes; the largest are those of SLH-DSA, about 70 kB. */
const MAX_TEXT_BYTES = 2 ** 20;
/** Maximum size of lists of files or signers, in bytes. */
const MAX_LIST_BYTES = 16 * 2 ** 20;

export const command: Command = {
  arguments: [
    { metavar: FILE, help: 'Signed file; "-" reads standard input.', required: true, offers: 'file' },
    argument(`${SIGNATURE}${OR_FILE}`, 'Signature, or its file. Default: FILE.sig or FILE.minisig.', {
      required: false,
      offers: 'file',
    }),
  ],
  options: [
    takingFile(
      PUBLIC_KEY,
      'Verify with this public key, or the one in this file: PEM, OpenSSH, minisign or JWK.',
      { metavar: `KEY${OR_FILE}`, excludes: [ALLOWED_SIGNERS, KEY] },
    ),
    takingFile(ALLOWED_SIGNERS, 'Accept keys that this OpenSSH allowed_signers file lists for --identity.', {
      excludes: [KEY],
    }),
    taking(IDENTITY, 'WHO', 'Signer, as named in the file of --allowed-signers, e.g. an email address.'),
    taking(KEY, 'NAME', 'Verify with this key of the store or server, in any usable version.', {
      offers: 'key',
    }),
    namespaceOption('Purpose (namespace) that an ssh signature must have.'),
    taking(FORMAT, 'FORMAT', 'Format that the signature must have.', {
      fallback: 'detected from the signature',
      choices: VERIFIED_FORMATS,
    }),
    switching(MANIFEST, 'FILE is a list of SHA-256 checksums; also check the listed files.'),
    ...optionsOf('hash_algorithm', hash_algorithm),
    ...optionsOf('signature_algorithm', signature_algorithm),
    ...optionsOf('marshaling_algorithm', marshaling_algorithm),
  ],
  isVerdict: true,
  details:
    'Verifies signatures of "coffer sign", ssh-keygen, minisign and "coffer transit sign". --hash-algorithm, ' +
    '--signature-algorithm and --marshaling-algorithm apply only to those of "coffer transit sign". With ' +
    '--public-key or --allowed-signers no store is needed. With --manifest, the listed files are looked up ' +
    'relative to the manifest. With an OpenSSH or minisign key, a signature from "coffer transit sign" is only ' +
    'accepted with --format transit, because such a key may have signed the same bytes for another purpose.',
  examples: [
    [
      'coffer verify app.tar.gz --public-key release.pub',
      'Verify a file; if invalid, prints why and exits with 5',
    ],
    [
      'coffer verify app.tar.gz --allowed-signers signers --identity release@example.com',
      'Verify against an allowed_signers file',
    ],
    [
      'coffer verify dist/SHA256SUMS --manifest --key release',
      'Verify a checksum file and all files it lists',
    ],
    ['zcat app.tar.gz | coffer verify - app.tar.sig --key release', 'Verify standard input'],
  ],
  async run(session, given) {
    if (!TRUSTING.some((flag) => given.options.has(flag))) await refuseWithoutKey(session, given);
    const plan = planOf(given);
    const misplaced = (error: unknown): never => {
      throw withFileBeforeSignature(error, command, given);
    };
    const signature = await Promise.resolve(plan).then(signatureText).catch(misplaced);
    return closing(new FileHasher(session, plan.manifest ? [] : [plan.file], FILE), async (hasher) => {
      const list = plan.manifest ? readFileWhole(plan.file, FILE, MAX_LIST_BYTES) : undefined;
      const trust = await plan.trust(session);
      const content = list === undefined ? fileContent(session, hasher, plan.file) : bytesContent(list);
      const verdict = await closing(content, () =>
        verifySignature(signature, content, trust, plan).catch(misplaced),
      );
      const whole =
        list === undefined || verdict.why !== undefined
          ? verdict
          : { ...verdict, ...(await listVerdict(session, plan.file, inputText(list, FILE))) };
      hasher.close();
      return answer(session, plan.file, whole);
    });
  },
};

interface VerifyPlan {
  readonly file: string;
  readonly signature: string | undefined;
  readonly manifest: boolean;
  readonly format: VerifiedFormat | undefined;
  readonly namespace: string;
  readonly request: SignatureRequest;
  /** Reads the trusted keys or signers; may need the store. */
  trust(session: Session): Promise<Trust>;
}

function planOf({ arguments: [file = '', signature], options }: Given): VerifyPlan {
  const namespace = namespaceIn(options);
  const manifest = options.has(MANIFEST);
  if (manifest && file === STANDARD)
    throw invalid('the manifest must be a file, because its entries are relative to it', { field: FILE });
  if (file === STANDARD && signature === undefined)
    throw invalid(`missing required argument ${SIGNATURE}`, { hint: 'name the file with the signature' });
  const request = {
    hashAlgorithm: textOption(options, 'hash-algorithm') ?? DEFAULT_HASH,
    prehashed: false,
    signatureAlgorithm: textOption(options, 'signature-algorithm') ?? '',
    marshalingAlgorithm: textOption(options, 'marshaling-algorithm') ?? 'asn1',
    saltLength: 'auto',
  };
  return {
    file,
    signature,
    manifest,
    format: choiceOption(options, FORMAT, VERIFIED_FORMATS),
    namespace,
    request,
    trust: trustOf(options, namespace),
  };
}

function trustOf(options: Given['options'], namespace: string): VerifyPlan['trust'] {
  const publicKey = textOption(options, PUBLIC_KEY);
  const signers = textOption(options, ALLOWED_SIGNERS);
  const identity = textOption(options, IDENTITY);
  const name = textOption(options, KEY);
  if ((signers === undefined) !== (identity === undefined)) {
    throw invalid(`--${ALLOWED_SIGNERS} and --${IDENTITY} must be used together`, {
      hint:
        identity === undefined
          ? `use --${IDENTITY} to name the expected signer`
          : `use --${ALLOWED_SIGNERS} to name the file of signers and their keys`,
    });
  }
  if (publicKey !== undefined) {
    const keys = textOrFile(publicKey, {
      isText: isPublicKeyText,
      ofText: publicKeysIn,
      ofFile: (path) => parsePublicKeys(textOf(path, PUBLIC_KEY)),
    });
    return async () => ({ keys: () => keys });
  }
  if (signers !== undefined && identity !== undefined) {
    const trust = allowedTrust(textOf(signers, ALLOWED_SIGNERS, MAX_LIST_BYTES), identity, namespace);
    return async () => trust;
  }
  if (name !== undefined) {
    return async (session) => {
      const { publicVersions, requireInUse, unusableVersions } = await import('../signatures/named-keys.ts');
      let orElse: string | undefined;
      const versions = await publicVersions(await session.runner(), name, undefined, (key) => {
        requireInUse(key);
        orElse = unusableVersions(key);
      });
      const keys = versions.map(({ key, number: version }) => ({ key, form: 'pem', version }) as const);
      return { keys: () => keys, orElse };
    };
  }
  throw new RangeError('no trusted key');
}

/** Options that say whose signature is meant. */
const TRUSTING = [PUBLIC_KEY, ALLOWED_SIGNERS, IDENTITY, KEY];

/**
 * Refuses a command line that names nobody's key; on a terminal, names the own keys that sign.
 * @throws `invalid` always
 */
async function refuseWithoutKey(session: Session, { arguments: typed, options }: Given): Promise<never> {
  const { keysShown } = await import('../candidates.ts');
  const { isForSigning } = await import('../signatures/signing-keys.ts');
  const { meantToVerify } = await import('../signature-words.ts');
  const meant = meantToVerify(typed, isTransitSignature);
  const call = ['coffer', 'verify', ...(meant?.words ?? typed), ...typedOptions(command, options)]
    .map(shellWord)
    .join(' ');
  const message = 'no public key given to verify with';
  if (meant?.key !== undefined)
    throw invalid(message, { hint: `${meant.why}: "${call} --${KEY} ${shellWord(meant.key)}"` });
  const [file = ''] = typed;
  if (meant === undefined && file !== STANDARD) openInFile(file, FILE).close();
  const names = (await keysShown(session, isForSigning))?.text;
  const before = [meant?.why, names].flatMap((text) => (text ? [`${text}; `] : []));
  throw invalid(message, {
    hint: `${before.join('')}use "${call} --${KEY} NAME" for a key of your store, "${call} --${PUBLIC_KEY} FILE" for another public key, or --${ALLOWED_SIGNERS} with --${IDENTITY}`,
  });
}

/**
 * Parses public keys.
 * @throws `invalid` if it is neither a public key nor a file
 */
function publicKeysIn(text: string): readonly GivenKey[] {
  try {
    return parsePublicKeys(text);
  } catch (error) {
    if (/[\s{]/.test(text)) throw error;
    const hint = asCofferError(error)?.hint;
    throw invalid(`"${text}" is neither a file nor a public key`, { field: PUBLIC_KEY, hint, cause: error });
  }
}

function allowedTrust(text: string, identity: string, namespace: string): Trust {
  const { signers, broken } = parseAllowedSigners(text);
  const [misread] = brokenFor(broken, identity);
  const at = Date.now();
  const allowed = signers.filter((signer) => maySign(signer, identity, { key: signer.key, namespace, at }));
  return {
    keys: () =>
      allowed.flatMap(({ key: line }) => {
        const found = parseSshLine(line);
        return found === undefined ? [] : [{ key: found.key, form: 'ssh' as const }];
      }),
    judge: ({ key }) =>
      allowed.some((signer) => signer.key === signerKey(key))
        ? undefined
        : `the allowed signers file does not allow ${sshFingerprint(key)} to sign as ${identity}` +
          (misread === undefined ? '' : `; ${misread.why}`),
  };
}

const textOf = (path: string, field: string, maxBytes = MAX_TEXT_BYTES): string =>
  readShortText(path, field, maxBytes);

/** Returns the text of the signature, by default of the file next to the signed one. */
function signatureText({ file, signature }: VerifyPlan): string {
  if (signature !== undefined) {
    const ofFile = (path: string): string => textOf(path, SIGNATURE);
    // Anything else is reported as a missing file.
    const ofText = (text: string): string => (isTransitSignature(text) ? text : ofFile(text));
    return textOrFile(signature, { isText: isTransitSignature, ofText, ofFile });
  }
  const endings = Object.values(ENDINGS);
  const found = endings.map((ending) => `${file}${ending}`).find((path) => existsSync(path));
  if (found !== undefined) return textOf(found, SIGNATURE);
  if (file !== STANDARD) openInFile(file, FILE).close();
  throw notFound(
    `no signature found: neither ${endings.map((ending) => file + ending).join(' nor ')} exists`,
    {
      field: SIGNATURE,
      hint: 'name the file of the signature',
    },
  );
}

const bytesContent = (bytes: Buffer): Content & { close(): void } => ({
  close: () => undefined,
  head: async (count) => bytes.subarray(0, count),
  hash: async (algorithm) => createHash(algorithm).update(bytes).digest(),
  whole: async () => bytes,
});

/** Opens a file or standard input. A pipe can be read only once, so the beginning that was examined is also hashed. */
function fileContent(session: Session, hasher: FileHasher, file: string): Content & { close(): void } {
  let begun: { readonly input: Input; readonly start: Buffer; close?(): void } | undefined;
  return {
    async head(count) {
      if (file === STANDARD) {
        announceStandardInput(session);
        begun = { input: session.streams.in, start: headOf(session.streams.in, count) };
      } else {
        const input = openInFile(file, FILE);
        begun = { input, start: headOf(input, count), close: () => input.close() };
      }
      return begun.start;
    },
    hash: (algorithm) =>
      begun === undefined
        ? hasher.hash(file, algorithm, FILE)
        : hasher.hashRest(begun.input, algorithm, begun.start),
    async whole() {
      if (begun !== undefined) return readRest(begun.input, begun.start);
      return readFileOrInput(session, file, FILE, MAX_INPUT_BYTES);
    },
    close: () => begun?.close?.(),
  };
}

interface CheckedFile {
  readonly name: string;
  readonly valid: boolean;
}

/** Checks every file of a manifest whose signature is valid. */
async function listVerdict(session: Session, manifest: string, text: string) {
  const sums = parseManifest(text);
  const places = sums.map(({ name }) => join(dirname(manifest), name));
  const there = places.filter((path) => notRead(path) === undefined);
  return closing(new FileHasher(session, there, MANIFEST), async (hasher) => {
    const files: CheckedFile[] = [];
    const wrong: string[] = [];
    for (const [index, { name, sha256 }] of sums.entries()) {
      const path = places[index] ?? name;
      const why = await difference(hasher, path, sha256);
      files.push({ name, valid: why === undefined });
      if (why !== undefined) wrong.push(`${name} ${why}`);
    }
    const more = wrong.length > 1 ? `, and ${wrong.length - 1} more` : '';
    return { files, why: wrong[0] === undefined ? undefined : `${wrong[0]}${more}` };
  });
}

/**
 * Returns the reason why a file cannot be hashed; undefined if it can. A pipe or a device, which an attacker may have
 * put there, might never end.
 */
function notRead(path: string): string | undefined {
  let found: Stats | undefined;
  try {
    found = statSync(path, { throwIfNoEntry: false });
  } catch {
    // Opening it reports the error.
    return undefined;
  }
  if (found === undefined) return 'is missing';
  return found.isFile() ? undefined : 'is not a file';
}

async function difference(hasher: FileHasher, path: string, sha256: string): Promise<string | undefined> {
  const absent = notRead(path);
  if (absent !== undefined) return absent;
  const digest = await hasher.hash(path, 'sha256', MANIFEST);
  return digest.toString('hex') === sha256 ? undefined : 'does not match its checksum in the list';
}

/**
 * Prints the result.
 * @returns exit code
 */
async function answer(
  session: Session,
  file: string,
  { why, ...verdict }: Verdict & { readonly files?: readonly CheckedFile[] },
): Promise<number> {
  const valid = why === undefined;
  const data = { file, valid, ...verdict, why };
  const line = valid ? `${file}: valid (${verdict.format}, ${verdict.key})` : `${file}: not valid: ${why}`;
  await printResult(session, data, {
    lines: () => [line],
    result: { member: 'valid', as: 'text' },
  });
  return valid ? DONE : NOT_VALID;
}
