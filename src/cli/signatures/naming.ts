import { isRegularFile } from '../../ground/directories.ts';
import { asCofferError, CofferError, invalid, withOtherHint } from '../../ground/errors.ts';
import { type CommandSpec, type OptionSpec, taking, typedOptions } from '../command.ts';
import { type Given, textOption } from '../given.ts';
import { shellWord } from '../terminal/shell-word.ts';

const NAMESPACE = 'namespace';
const DEFAULT_NAMESPACE = 'file';

/** Declares the option for the namespace, the purpose of an SSH signature. */
export const namespaceOption = (help: string): OptionSpec =>
  taking(NAMESPACE, 'NS', help, { fallback: DEFAULT_NAMESPACE });

/**
 * Returns the namespace.
 * @throws `invalid` if it is empty: SSH signatures have a namespace (PROTOCOL.sshsig of OpenSSH), and ssh-keygen
 * neither makes nor verifies one without it
 */
export function namespaceIn(options: Given['options']): string {
  const namespace = textOption(options, NAMESPACE) ?? DEFAULT_NAMESPACE;
  if (namespace !== '') return namespace;
  throw invalid('the namespace must not be empty', {
    field: `--${NAMESPACE}`,
    hint: `omit --${NAMESPACE} for "${DEFAULT_NAMESPACE}", or give the purpose of the signature, e.g. "git"`,
  });
}

/** Extensions of signature files, by format. */
export const ENDINGS = { ssh: '.sig', minisign: '.minisig' } as const;

export const isNamedAsSignature = (path: string): boolean =>
  Object.values(ENDINGS).some((ending) => path.endsWith(ending));

/** Returns the file that a signature is named after; undefined if there is none. */
export function signedFileOf(signature: string): string | undefined {
  const ending = Object.values(ENDINGS).find((known) => signature.endsWith(known));
  const file = ending && signature.slice(0, -ending.length);
  return file !== undefined && isRegularFile(file) ? file : undefined;
}

/**
 * Returns the error of a verification without a result, with the right order if a signature was given in the place of
 * its file. A signature may itself be a signed file, so nothing is refused because of its name.
 */
export function withFileBeforeSignature(
  error: unknown,
  command: Pick<CommandSpec, 'options'>,
  { arguments: [signature = '', file], options }: Given,
): unknown {
  const known = asCofferError(error);
  if (known === undefined || !isNamedAsSignature(signature)) return error;
  if (file === undefined) return withSignedFile(known, command, { arguments: [signature], options });
  if (isNamedAsSignature(file) || !isRegularFile(file) || !isRegularFile(signature)) return error;
  if (known.kind === 'not-found' || known.kind === 'denied' || known.kind === 'sealed') return error;
  const words = ['coffer', 'verify', file, signature, ...typedOptions(command, options)].map(shellWord);
  return new CofferError(known.kind, `${file} is not a signature: the file comes first, then its signature`, {
    hint: `run "${words.join(' ')}"`,
    cause: error,
  });
}

/** Returns the error about a missing signature of a signature, with the file that it is named after. */
function withSignedFile(
  error: CofferError,
  command: Pick<CommandSpec, 'options'>,
  { arguments: [signature = ''], options }: Given,
): CofferError {
  const file = signedFileOf(signature);
  if (error.kind !== 'not-found' || error.field !== 'SIGNATURE' || file === undefined) return error;
  const words = ['coffer', 'verify', file, ...typedOptions(command, options)].map(shellWord);
  return withOtherHint(error, `${signature} is the signature of ${file}: run "${words.join(' ')}"`);
}
