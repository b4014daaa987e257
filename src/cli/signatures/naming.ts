import { invalid } from '../../ground/errors.ts';
import type { OptionSpec } from '../command.ts';
import { type Given, textOption } from '../given.ts';
import { taking } from '../parse/everywhere.ts';

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
