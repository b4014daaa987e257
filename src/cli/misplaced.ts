import { isRegularFile, isThere } from '../ground/directories.ts';
import { CofferError, invalid, withOtherHint } from '../ground/errors.ts';
import { KEY_NAME } from '../transit/key-document.ts';
import { type ArgumentSpec, type Invocation, type OptionSpec, typedOptions } from './command.ts';
import { isCiphertext } from './files/beginning.ts';
import { type OptionValue, textOption, textsOption } from './given.ts';
import { namesOf } from './listed-names.ts';
import { MAX_COMPARED } from './near-names.ts';
import { insteadOfRecipient } from './parse/foreign.ts';
import { CIPHERTEXT } from './parse/operation-spec.ts';
import type { Session } from './session.ts';
import { shellWord } from './terminal/shell-word.ts';

/** Returns the error with the words in their places; undefined if none is out of place. */
export const inPlace = (error: CofferError, typed: Invocation): CofferError | undefined =>
  withFileAsOut(error, typed) ??
  withRecipientOption(error, typed) ??
  withSpacesForCommas(error, typed) ??
  withBinding(error, typed) ??
  withPolicyPiped(error, typed) ??
  withNameFirst(error, typed) ??
  withSignatureAsOption(error, typed) ??
  withKeyFirst(error, typed);

/** Hint of `keyName` for a value in the place of a key. */
const KEY_FIRST = 'give the name of the key before the value';

/**
 * Adds, to the error about a file as the value of `-o`, which other programs name the result by, the option for that.
 * @returns undefined if the error is about anything else
 */
function withFileAsOut(error: CofferError, typed: Invocation): CofferError | undefined {
  const { path, command, everywhere } = typed;
  const value = textOption(everywhere, 'output');
  const isOfOutput = error.field === 'output' && value !== undefined && /[./]/.test(value);
  if (isOfOutput && path.join(' ') === 'sign') return withPlaceOfSignature(error, value, typed);
  const way = ['out', 'stdout'].find((wanted) => command.options.some(({ flag }) => flag === wanted));
  if (!isOfOutput || way === undefined) return undefined;
  const into = way === 'out' ? '' : '> ';
  return withOtherHint(error, `for a file, use --${way} ${into}${shellWord(value)}; ${error.hint}`);
}

/** Adds the command that writes a signature to a file of any name: the one that reads standard input. */
function withPlaceOfSignature(
  error: CofferError,
  value: string,
  { command, given }: Invocation,
): CofferError {
  const [file = 'FILE'] = given.arguments;
  const key = given.options.has('key') ? [] : ['--key', 'NAME'];
  const words = ['coffer', 'sign', '-', ...typedOptions(command, given.options), ...key];
  return withOtherHint(
    error,
    `the signature is written next to the file; for another place, run "${words.map(shellWord).join(' ')} < ${shellWord(file)} > ${shellWord(value)}"; ${error.hint}`,
  );
}

/** Commands that encrypt files or their values. */
const ENCRYPTING: ReadonlySet<string> = new Set([
  'transit envelope encrypt',
  'secrets encrypt',
  'secrets set',
]);

/**
 * Adds, to the error about a public key as the name of a key, the command that encrypts for it.
 * @returns undefined if the error is about anything else
 */
function withRecipientOption(error: CofferError, { path, given }: Invocation): CofferError | undefined {
  const [first = '', second] = given.arguments;
  if (error.kind !== 'invalid' || !ENCRYPTING.has(path.join(' '))) return undefined;
  const isOfValues = path[0] === 'secrets';
  const name = isOfValues ? (textOption(given.options, 'key') ?? '') : first;
  const [file = isOfValues ? first : second] = textsOption(given.options, 'in');
  const hint = error.message.includes(name)
    ? insteadOfRecipient(name, file ?? 'FILE', isOfValues)
    : undefined;
  return hint === undefined ? undefined : withOtherHint(error, hint);
}

/** What a value that may contain a comma names. */
const MAY_HAVE_COMMAS: ReadonlySet<string> = new Set(['file', 'directory', 'program', 'value']);

/**
 * Adds, to an error about several names that are joined by commas, that they are separated by spaces, with the command.
 * @returns undefined if the error is about anything else
 */
function withSpacesForCommas(error: CofferError, typed: Invocation): CofferError | undefined {
  const said = `${error.message} ${error.hint ?? ''}`;
  const isJoined = (word: string, { offers, metavar = '' }: ArgumentSpec | OptionSpec): boolean =>
    said.includes(word) &&
    (offers === undefined || !MAY_HAVE_COMMAS.has(offers)) &&
    !metavar.includes('=') &&
    !word.includes('=') &&
    /^[^\s,]+(?:,[^\s,]+)+$/.test(word);
  const specs = typed.command.arguments;
  let noun: string | undefined;
  const apart = (word: string, spec: ArgumentSpec | OptionSpec): readonly string[] => {
    if (!isJoined(word, spec)) return [word];
    noun ??= spec.offers ?? 'name';
    return word.split(',');
  };
  const last = specs.at(-1);
  const words = typed.given.arguments.flatMap((word, at) =>
    at >= specs.length - 1 && last?.many === true ? apart(word, last) : [word],
  );
  const options = new Map<string, OptionValue>(typed.given.options);
  for (const spec of typed.command.options.filter(({ takes }) => takes === 'values')) {
    const texts = textsOption(options, spec.flag);
    if (texts.length > 0)
      options.set(
        spec.flag,
        texts.flatMap((text) => apart(text, spec)),
      );
  }
  if (noun === undefined) return undefined;
  const command = ['coffer', ...typed.path, ...words, ...typedOptions(typed.command, options)];
  return withOtherHint(
    error,
    `separate several ${pluralOf(noun)} with spaces: "${command.map(shellWord).join(' ')}"`,
  );
}

const pluralOf = (noun: string): string => (/[^e]y$/.test(noun) ? `${noun.slice(0, -1)}ies` : `${noun}s`);

/**
 * Returns the error of a file that cannot be read, with the right order if the name that comes before it and the file
 * were exchanged.
 * @returns undefined if the error is about anything else
 */
function withNameFirst(error: CofferError, { path, command, given }: Invocation): CofferError | undefined {
  const [file = '', name, ...others] = given.arguments;
  const isPair = command.arguments[0]?.offers !== 'file' && command.arguments[1]?.offers === 'file';
  if (!isPair || name === undefined || others.length > 0) return undefined;
  if (!error.message.includes(`cannot read ${name}: `) || isThere(name) || !isRegularFile(file))
    return undefined;
  const words = ['coffer', ...path, name, file, ...typedOptions(command, given.options)].map(shellWord);
  return new CofferError(error.kind, `no file ${name}: the name comes first, then the file`, {
    hint: `run "${words.join(' ')}"`,
    cause: error,
  });
}

/**
 * Adds, to the error about a ciphertext or signature in the place of a key, the command with the right order.
 * @returns undefined if the error is about anything else
 */
function withKeyFirst(error: CofferError, { path, command, given }: Invocation): CofferError | undefined {
  const [value = '', name, ...others] = given.arguments;
  const [key, second] = command.arguments;
  const isOfKey = key?.offers === 'key' && second !== undefined && error.hint === KEY_FIRST;
  if (!isOfKey || name === undefined || others.length > 0 || !KEY_NAME.test(name)) return undefined;
  const words = ['coffer', ...path, name, value, ...typedOptions(command, given.options)].map(shellWord);
  return withOtherHint(error, `${KEY_FIRST}: run "${words.join(' ')}"`);
}

/** Message about a verification without a signature, and about one that is none. */
const NO_SIGNATURE = 'missing signature or HMAC';
const NOT_SIGNED = 'invalid signature: no prefix';

/**
 * Adds, to an error about a signature in the place of a key or of a value, or about its file in the place of a
 * signature, the command that verifies it.
 * @returns undefined if the error is about anything else
 */
function withSignatureAsOption(
  error: CofferError,
  { path, command, given: { arguments: words, options } }: Invocation,
): CofferError | undefined {
  if (path.join(' ') !== 'transit verify') return undefined;
  const [first = '', second = ''] = words;
  const isExchanged = error.hint === KEY_FIRST;
  const typed = error.message === NOT_SIGNED ? (textOption(options, 'signature') ?? '') : '';
  if (!isExchanged && error.message !== NO_SIGNATURE && typed === '') return undefined;
  const key = isExchanged ? second : first;
  const signature = typed !== '' ? typed.replace(/^@/, '') : isExchanged ? first : second;
  if (!KEY_NAME.test(key)) return undefined;
  const run = (...call: readonly string[]): string => `run "${['coffer', ...call].map(shellWord).join(' ')}"`;
  const input = textOption(options, 'in') ?? 'FILE';
  const others = new Map([...options].filter(([flag]) => flag !== 'signature' && flag !== 'in'));
  const rest = typedOptions(command, others);
  const value = typed !== '' && second !== '' ? [second] : [];
  const from = value.length > 0 ? [] : ['--in', input];
  // The file that was signed, in the place of the key.
  const isFile = !isExchanged && isRegularFile(key);
  const withOption = (text: string): string =>
    run(...path, key, ...value, '--signature', text, ...from, ...rest);
  const why = isExchanged ? `${KEY_FIRST}: ` : '';
  if (typed === '' && CIPHERTEXT.test(signature))
    return withOtherHint(error, `${why}${withOption(signature)}`);
  if (!isRegularFile(signature)) return undefined;
  return withOtherHint(
    error,
    isCiphertext(signature)
      ? `${signature} is a file: ${withOption(`@${signature}`)}`
      : `${signature} is the signature of a file: ${isFile ? run('verify', key, signature, '--key', 'NAME') : run('verify', input, signature, '--key', key)}`,
  );
}

/**
 * Refuses a value that is the name of a key, after a name that no key has, where the user cannot be asked whether a new
 * key is meant: the two were exchanged, and the value, which may be a secret, would become the name of a key. Keys are
 * listed, not looked up by name, because an agent's audit log would record the name.
 * @param path words of the command
 * @throws `invalid`
 */
export async function refuseExchanged(
  session: Session,
  path: readonly string[],
  value: string,
): Promise<void> {
  const runner = await session.runner();
  const keys = await namesOf(runner, 'key', MAX_COMPARED);
  if (!(await keys.has(value).catch(() => false))) return;
  const command = ['coffer', ...path, shellWord(value)].join(' ');
  throw invalid(`"${value}" is a key, and the word before it is not: the key comes first`, {
    hint: `run "${command} VALUE"; to use the text "${value}" with a new key, run "coffer transit keys create NAME" first`,
  });
}

/** Messages about a tag that cannot have that name, or does not exist. */
const REFUSED = /^(?:Tags must only contain letters|tag ".*" not found)/;
const PAIR = /^[^\s=]+=\S*$/;

/**
 * Adds, to an error about KEY=VALUE in the place of a tag, the command that sets such tags on a workspace.
 * @returns undefined if the error is about anything else
 */
function withBinding(error: CofferError, typed: Invocation): CofferError | undefined {
  const { path, command: spec, given } = typed;
  const [ofTags, plain] = [true, false].map((isPair) =>
    textsOption(given.options, 'tag').filter((word) => PAIR.test(word) === isPair),
  );
  if (spec.options.some(({ flag }) => flag === 'bind') && ofTags?.length && REFUSED.test(error.message)) {
    const bound = [...textsOption(given.options, 'bind'), ...ofTags];
    const options = new Map<string, OptionValue>([...given.options, ['bind', bound], ['tag', plain ?? []]]);
    if (!plain?.length) options.delete('tag');
    const words = [...given.arguments, ...typedOptions(spec, options)];
    return withOtherHint(
      error,
      `tags with a value are set with --bind: run "${['coffer', ...path, ...words].map(shellWord).join(' ')}"`,
    );
  }
  const pairs = given.arguments.filter((word) => PAIR.test(word));
  if (path[0] === 'transit' || pairs.length === 0 || !REFUSED.test(error.message)) return undefined;
  const ofCommand = path.join(' ') === 'workspaces tag' ? given.arguments[0] : undefined;
  const [workspace = ofCommand ?? 'WS'] = textsOption(given.options, 'workspace');
  const command = ['coffer', 'workspaces', 'bind', workspace, ...pairs].map(shellWord).join(' ');
  return withOtherHint(error, `tags with a value are set on a workspace with "${command}"`);
}

/** Beginning of the text of a policy. */
const POLICY_TEXT = /^\s*(?:path|name)\s*"|^\s*[{#]/;

/**
 * Adds, to an error about the text of a policy in the place of its file, the command that reads the text.
 * @returns undefined if the error is about anything else
 */
function withPolicyPiped(error: CofferError, { path, given }: Invocation): CofferError | undefined {
  const [name = '', text = ''] = given.arguments;
  if (path.join(' ') !== 'policy write' || !POLICY_TEXT.test(text)) return undefined;
  const command = ['coffer', ...path, name].map(shellWord).join(' ');
  return withOtherHint(
    error,
    text.includes('\n')
      ? `write the text to a file, and run "${command} FILE"`
      : `for the text itself, run: printf %s ${shellWord(text)} | ${command} -`,
  );
}

/** Adds, to an error of a server about "self" in the place of a token, the command for the own one. */
export function withOwnToken(
  error: CofferError,
  { path, command, given }: Invocation,
): CofferError | undefined {
  const isOwn =
    path[0] === 'token' && given.arguments[0] === 'self' && command.arguments[0]?.required === false;
  if (!isOwn) return undefined;
  return withOtherHint(error, `for your own token, run "${['coffer', ...path].join(' ')}"`);
}
