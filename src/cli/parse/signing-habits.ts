import { isRegularFile } from '../../ground/directories.ts';
import { invalid } from '../../ground/errors.ts';
import { KEY_NAME } from '../../transit/key-document.ts';
import { shellWord } from '../terminal/shell-word.ts';

/* Command lines of minisign and gpg that sign or verify a file: the command that does the same here. */

type Part = 'file' | 'signature' | 'publicKey' | 'keyText' | 'key' | 'other';

/** Options of minisign and gpg that take a value. */
const VALUED: ReadonlyMap<string, Part> = new Map<string, Part>([
  ['m', 'file'],
  ['x', 'signature'],
  ['p', 'publicKey'],
  ['P', 'keyText'],
  ...['key', 'u', 'local-user', 'default-key'].map((flag) => [flag, 'key'] as const),
  ['public-key', 'publicKey'],
  ...['s', 'c', 't', 'o', 'output'].map((flag) => [flag, 'other'] as const),
]);

/** Options that only lines of minisign and gpg have, by the command here. */
const MEANT: Readonly<Record<string, RegExp>> = {
  sign: /^(?:[SHmuxtbs]|Sm|SHm|local-user|default-key|(?:detach|clear)-?sign)$/,
  verify: /^(?:[VmxpP]|V[a-z]*m)$/,
};

/** Extensions of files that are not there, rather than names of keys. */
const FILE_NAMED = /\.(?:sig|minisig|asc|pub|pem)$/;

/** Extensions of the signatures that a file is verified with if none is named. */
const SIGNATURE = /\.(?:sig|minisig)$/;

type Parts = Partial<Record<Part, string | undefined>>;

/** Reads a command line; words that belong to no option are taken by what they are. */
function partsOf(words: readonly string[]): Parts {
  const parts: Parts = {};
  const plain: string[] = [];
  const rest = [...words];
  for (let word = rest.shift(); word !== undefined; word = rest.shift()) {
    const { letters, name, value } =
      /^(?:-(?<letters>[A-Za-z]+)|--(?<name>[A-Za-z][\w-]*)(?:=(?<value>.*))?)$/s.exec(word)?.groups ?? {};
    const part = VALUED.get(name ?? letters?.at(-1) ?? '');
    if (part !== undefined) parts[part] ??= value ?? rest.shift() ?? '';
    else if (letters === undefined && name === undefined) plain.push(word);
  }
  const { file, ...named } = parts;
  const whole = { ...plainParts(plain), ...named };
  // With -m, git takes a message, and minisign the file.
  return whole.file !== undefined && (file === undefined || !isRegularFile(file))
    ? whole
    : { ...whole, file };
}

/** Tells a file, its signature and a key apart, in any order. */
function plainParts(words: readonly string[]): Parts {
  const files = words.filter(isRegularFile);
  const [key] = words.filter((word) => !isRegularFile(word) && !FILE_NAMED.test(word));
  const signature = files.find((word) => SIGNATURE.test(word));
  const others = files.filter((word) => word !== signature);
  const [file = signature?.replace(SIGNATURE, ''), publicKey] = others;
  return { key, signature, file, publicKey };
}

const quoted = (words: readonly string[]): string => `"${['coffer', ...words].map(shellWord).join(' ')}"`;

/**
 * Returns the command that verifies what the words of another program verify.
 * @returns undefined if they name no file that is there
 */
export function verifyingInstead(words: readonly string[]): string | undefined {
  const { file, signature, publicKey, keyText, key } = partsOf(words);
  if (file === undefined || !isRegularFile(file)) return undefined;
  const isBeside = signature === undefined || signature.replace(SIGNATURE, '') === file;
  const isKey = key !== undefined && KEY_NAME.test(key);
  const trusted =
    publicKey !== undefined && isRegularFile(publicKey)
      ? ['--public-key', publicKey]
      : keyText === undefined || isKey
        ? ['--key', isKey ? key : 'NAME']
        : ['--public-key', keyText];
  return quoted(['verify', file, ...(isBeside ? [] : [signature]), ...trusted]);
}

/**
 * Returns the command that does the same as a line with an option of minisign or gpg.
 * @param command word of the command here
 * @param flag that is not known, without dashes
 * @param words behind the command
 * @returns undefined if the words do not say it
 */
export function signingInstead(command: string, flag: string, words: readonly string[]): string | undefined {
  if (!Object.hasOwn(MEANT, command) || MEANT[command]?.test(flag) !== true) return undefined;
  if (command === 'verify') {
    const verifying = verifyingInstead(words);
    return verifying && `use ${verifying}`;
  }
  const { file, key = 'NAME' } = partsOf(words);
  return file !== undefined && isRegularFile(file)
    ? `use ${quoted(['sign', file, '--key', key])}`
    : undefined;
}

/**
 * Refuses words after `-V`, and returns nothing if there are none. With minisign it verifies a file: a script would
 * take exit code 0 for a valid signature.
 * @throws `invalid` in that case
 */
export function requireAlone(argv: readonly string[]): undefined {
  const at = argv.findIndex((word) => /^(?:--version$|-[A-Za-z]*V)/.test(word));
  const [word = '', ...words] = argv.slice(at);
  if (at === -1 || (words.length === 0 && /^(?:--version|-V)$/.test(word))) return undefined;
  const verifying = verifyingInstead([word, ...words]);
  const hint = verifying === undefined ? 'see "coffer --help"' : `to verify a file, use ${verifying}`;
  throw invalid(`${word} shows the version and takes nothing else`, { hint });
}
