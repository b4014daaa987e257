import { createHash } from 'node:crypto';
import { basename, dirname, relative, resolve, sep } from 'node:path';
import { utf8 } from '../../ground/bytes.ts';
import { closing, invalid } from '../../ground/errors.ts';
import { isInside, printManifest } from '../../signatures/manifest.ts';
import { argument, type OwnCommand, taking, takingFile, typedOptions } from '../command.ts';
import { FileHasher } from '../files/hashing.ts';
import { openInFile } from '../files/in-file.ts';
import { STANDARD } from '../files/input.ts';
import { mayReplace, writeOutFile } from '../files/out-file.ts';
import { printDocument } from '../files/output.ts';
import { type Given, numberOption, textOption } from '../given.ts';
import { FORCE, forceOption } from '../parse/operation-spec.ts';
import type { Session } from '../session.ts';
import { FORMATS, type SignatureFormat } from '../signatures/formats.ts';
import { type Signer, signerOf } from '../signatures/named-keys.ts';
import { namespaceIn, namespaceOption } from '../signatures/naming.ts';
import { shellWord } from '../terminal/shell-word.ts';

const FILES = 'FILE';
const KEY = 'key';
const FORMAT = 'format';
const COMMENT = 'comment';
const MANIFEST = 'manifest';
const KEY_VERSION = 'key-version';

/** File mode of signatures, which are public. */
const PUBLIC_MODE = 0o666;

export const command: OwnCommand = {
  arguments: [argument(FILES, 'File to sign; "-" reads standard input.', { many: true, offers: 'file' })],
  options: [
    taking(KEY, 'NAME', 'Key to sign with.', { offers: 'signing-key' }),
    taking(FORMAT, 'FORMAT', 'Signature format: ssh, for ssh-keygen and git to verify, or minisign.', {
      fallback: 'ssh',
      choices: Object.keys(FORMATS),
    }),
    namespaceOption(
      'Purpose of an ssh signature (namespace). Verifying the signature requires the same namespace.',
    ),
    taking(
      COMMENT,
      'TEXT',
      'Comment of a minisign signature. It is signed, and shown when the signature is verified.',
      {
        fallback: 'timestamp and file name',
      },
    ),
    takingFile(
      MANIFEST,
      'Write SHA-256 checksums of all files to FILE (sha256sum format) and sign only FILE.',
    ),
    taking(KEY_VERSION, 'N', 'Version of the key to sign with.', { fallback: 'latest' }),
    { ...forceOption, help: 'Overwrite existing signature files.' },
  ],
  details:
    'Writes the signature next to the file, as FILE.sig or FILE.minisig. It can be verified without ' +
    'Coffer. Files can be of any size; only their hashes are sent to a server.',
  examples: [
    ['coffer sign app.tar.gz --key release', 'Write app.tar.gz.sig, for "ssh-keygen -Y verify"'],
    ['coffer sign dist/* --key release --manifest dist/SHA256SUMS', 'Sign one checksum file for many files'],
    ['coffer sign app.tar.gz --key release --format minisign', 'Write app.tar.gz.minisig, for "minisign -V"'],
    [
      'coffer transit keys public release --format allowed-signers > allowed_signers',
      'Write the file with the public key that verifies the signatures',
    ],
    ['git archive HEAD | coffer sign - --key release > app.tar.sig', 'Sign standard input'],
  ],
  async run(session, given) {
    const plan = planOf(given, textOption(given.options, KEY) ?? (await refuseWithoutKey(session, given)));
    await closing(new FileHasher(session, plan.files, FILES), async (hasher) => {
      // Nobody is asked whether a file may be replaced by a signature that the key cannot make.
      if (session.prompts.available()) await signerFor(session, plan);
      const replace = await mayReplace(session, plan.results, given.options.has(FORCE));
      const signer = await signerFor(session, plan);
      if (session.settings.address !== undefined && hasher.takesLong) await signer.requirePermission();
      const signed = await (plan.manifest === undefined
        ? signFiles(session, plan, { hasher, signer, replace })
        : signManifest(plan, plan.manifest, { hasher, signer, replace }));
      hasher.close();
      await printDocument(session, { files: signed, key_version: signer.version.number });
      for (const { file, signature } of signed) session.remark(`Signed ${file}: ${signature}`);
    });
  },
};

interface SignPlan {
  readonly files: readonly string[];
  readonly key: string;
  readonly version: number | undefined;
  readonly format: SignatureFormat;
  readonly namespace: string;
  readonly comment: string | undefined;
  readonly manifest: string | undefined;
  /** Files that will be written. */
  readonly results: readonly string[];
}

/**
 * Returns the signer that is asked for.
 * @throws `unsupported` if the key cannot make signatures of this format
 */
async function signerFor(session: Session, { key, version, format }: SignPlan): Promise<Signer> {
  const signer = await signerOf(await session.runner(), key, version, session.settings.mount);
  format.requireKey(signer);
  return signer;
}

interface SignedFile {
  readonly file: string;
  readonly signature: string;
}

/**
 * Refuses a command line without a key; on a terminal, names the keys that sign.
 * @throws `invalid` always
 */
async function refuseWithoutKey(session: Session, { arguments: files, options }: Given): Promise<never> {
  const { keysShown } = await import('../candidates.ts');
  const { isForSigning } = await import('../signatures/signing-keys.ts');
  const { keyAmongFiles } = await import('../signature-words.ts');
  const typed = typedOptions({ options: command.options ?? [] }, options);
  const commandFor = (words: readonly string[], key: string): string =>
    `"${['coffer', 'sign', ...words, '--key', key, ...typed].map(shellWord).join(' ')}"`;
  const meant = keyAmongFiles(files);
  if (meant?.key !== undefined)
    throw invalid('missing required option --key', {
      hint: `${meant.why}: ${commandFor(meant.words, meant.key)}`,
    });
  for (const file of files) if (file !== STANDARD) openInFile(file, FILES).close();
  const names = (await keysShown(session, isForSigning))?.text;
  const creating = '"coffer transit keys create NAME --type ed25519" creates a key that signs';
  const use = `use ${commandFor(files, 'NAME')}`;
  throw invalid('missing required option --key', {
    hint: names ? `${names}; ${use}` : `${use}; ${creating}`,
  });
}

/** Checks everything that needs no file content and no unlocked store. */
function planOf({ arguments: files, options }: Given, key: string): SignPlan {
  const name = textOption(options, FORMAT) ?? 'ssh';
  const format = Object.hasOwn(FORMATS, name) ? FORMATS[name] : undefined;
  if (format === undefined)
    throw invalid(`invalid format "${name}"`, { field: `--${FORMAT}`, hint: 'use ssh or minisign' });
  const manifest = textOption(options, MANIFEST);
  if (manifest === STANDARD)
    throw invalid('the manifest cannot be written to standard output', {
      field: `--${MANIFEST}`,
      hint: 'use the name of a file; ./- for a file with this name',
    });
  const comment = textOption(options, COMMENT);
  if (comment !== undefined && /[\r\n]/.test(comment)) {
    throw invalid('the comment must be a single line', { field: `--${COMMENT}` });
  }
  if (manifest !== undefined && files.includes(STANDARD)) {
    throw invalid('standard input cannot be listed in a manifest: it has no name', {
      field: `--${MANIFEST}`,
    });
  }
  if (files.filter((file) => file === STANDARD).length > 1)
    throw invalid('standard input can only be used once', { field: FILES });
  const wanted = filesToSign(files, manifest);
  const signed = manifest === undefined ? wanted.filter((file) => file !== STANDARD) : [manifest];
  return {
    files: wanted,
    key,
    version: numberOption(options, KEY_VERSION, /^[1-9]\d{0,8}$/, 'use a version number'),
    format,
    namespace: namespaceIn(options),
    comment,
    manifest,
    results: [
      ...(manifest === undefined ? [] : [manifest]),
      ...signed.map((file) => `${file}${format.ending}`),
    ],
  };
}

/** Returns each file once. A manifest does not list itself: "dist/*" includes it the second time. */
function filesToSign(files: readonly string[], manifest: string | undefined): readonly string[] {
  const own = Object.values(FORMATS).map(({ ending }) => `${manifest}${ending}`);
  const left = new Set(manifest === undefined ? [] : [manifest, ...own].map((path) => resolve(path)));
  const wanted = files.filter((file) => {
    const place = resolve(file);
    if (file !== STANDARD && left.has(place)) return false;
    left.add(place);
    return true;
  });
  if (wanted.length > 0) return wanted;
  throw invalid('the manifest cannot list itself', { field: `--${MANIFEST}` });
}

interface SigningTools {
  readonly hasher: FileHasher;
  readonly signer: Signer;
  readonly replace: boolean;
}

async function signFiles(
  session: Session,
  plan: SignPlan,
  { hasher, signer, replace }: SigningTools,
): Promise<readonly SignedFile[]> {
  const signed: SignedFile[] = [];
  for (const file of plan.files) {
    const text = await signatureOf(plan, signer, file, await hasher.hash(file, plan.format.hash, FILES));
    if (file === STANDARD) {
      session.streams.out.write(text);
      continue;
    }
    const signature = `${file}${plan.format.ending}`;
    await writeOutFile({ path: signature, replace, mode: PUBLIC_MODE }, text);
    signed.push({ file, signature });
  }
  return signed;
}

async function signManifest(
  plan: SignPlan,
  manifest: string,
  { hasher, signer, replace }: SigningTools,
): Promise<readonly SignedFile[]> {
  const sums = [];
  for (const file of plan.files) {
    const name = nameIn(manifest, file);
    sums.push({ sha256: (await hasher.hash(file, 'sha256', FILES)).toString('hex'), name });
  }
  const list = utf8(printManifest(sums));
  const text = await signatureOf(plan, signer, manifest, createHash(plan.format.hash).update(list).digest());
  const place = { replace, mode: PUBLIC_MODE };
  await writeOutFile({ ...place, path: manifest, field: `--${MANIFEST}` }, list);
  const signature = `${manifest}${plan.format.ending}`;
  await writeOutFile({ ...place, path: signature }, text);
  return [{ file: manifest, signature }];
}

const signatureOf = (plan: SignPlan, signer: Signer, file: string, digest: Buffer): Promise<string> =>
  plan.format.sign(signer, digest, {
    fileName: basename(file),
    namespace: plan.namespace,
    comment: plan.comment,
    at: Math.floor(Date.now() / 1000),
  });

/**
 * Returns the name of a file in the manifest: relative to the directory of the manifest, so that `sha256sum -c` finds
 * it there.
 */
function nameIn(manifest: string, file: string): string {
  const name = relative(dirname(resolve(manifest)), resolve(file))
    .split(sep)
    .join('/');
  if (isInside(name) && name !== '') return name;
  throw invalid(`${file} is outside the directory of the manifest`, {
    field: `--${MANIFEST}`,
    hint: 'write the manifest to a parent directory of all files',
  });
}
