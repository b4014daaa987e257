import { shellWord } from '../terminal/shell-word.ts';

/* Options with which ssh-keygen and minisign sign and verify, and the commands that do the same. */

const SIGN = 'use "coffer sign FILE --key NAME"';
const VERIFY = 'use "coffer verify FILE SIGNATURE --public-key KEY"';
const BY_OPTION: ReadonlyMap<string, string> = new Map([
  ['sign --Y', SIGN],
  ['sign --S', SIGN],
  ['verify --Y', VERIFY],
  ['verify --V', VERIFY],
]);

/**
 * Returns what to do instead of an option of another program for signatures.
 * @param flag without dashes; of a letter with others behind it, as in `-Sm`, the first one is meant
 */
export function insteadForSignatures(
  argv: readonly string[],
  path: readonly string[],
  flag: string,
): string | undefined {
  const command = path.join(' ');
  if (command === 'verify' && flag === 'signature') return withSignatureAsArgument(argv);
  const letter = /^[A-Z][a-z]*$/.test(flag) ? flag.charAt(0) : flag;
  return BY_OPTION.get(`${command} --${letter}`);
}

/** Returns the hint for `--signature`, with the command as it was typed where that is certain. */
function withSignatureAsArgument(argv: readonly string[]): string {
  const said = 'the signature comes right after the file';
  const [, file, option = '', ...rest] = argv;
  const inline = /^--?signature=(.*)$/s.exec(option)?.[1];
  const isAfterFile = inline !== undefined || /^--?signature$/.test(option);
  const [signature, others] = inline === undefined ? [rest[0], rest.slice(1)] : [inline, rest];
  if (argv[0] !== 'verify' || file === undefined || !isAfterFile || signature === undefined)
    return `${said}: "coffer verify FILE SIGNATURE"`;
  return `${said}: "${['coffer', 'verify', file, signature, ...others].map(shellWord).join(' ')}"`;
}
