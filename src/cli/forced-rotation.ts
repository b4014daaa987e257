import { CofferError } from '../ground/errors.ts';
import { trimSlashes } from '../ground/trim.ts';
import { type Invocation, typedOptions } from './command.ts';
import { textOption } from './given.ts';
import { shellWord } from './terminal/shell-word.ts';

/** Error for a key that is only rotated with force, and for which keys the same command succeeded before. */
const REFUSED =
  /^rotation is only supported for keys that encrypt and decrypt; (?<type>\S+) does not(?<rest>; already done: (?<done>.+))?$/;
/** Type of the keys that compute HMACs: those who verify have the key itself, no public one. */
const HMAC = 'hmac';
/** Path that rotates a key, by the name of the key. */
const ROTATE = /(?:^|\/)keys\/(?<name>[^/]+)\/rotate$/;

/**
 * Returns the error for a key that only signs and was to be rotated, with the reason and the command that rotates it.
 * @returns undefined if the error is about anything else
 */
export function withForce(error: CofferError, invocation: Invocation): CofferError | undefined {
  const { type, rest = '', done = '' } = REFUSED.exec(error.message)?.groups ?? {};
  if (type === undefined) return undefined;
  const { name, command } = forced(invocation, done.split(', '));
  if (name === undefined) return undefined;
  const why =
    type === HMAC
      ? `${name} only computes HMACs, and programs that verify them outside Coffer need its new version after a rotation`
      : `${name} only signs, and verifiers need its new public key after a rotation`;
  return new CofferError(
    error.kind,
    `rotation without force is only supported for keys that encrypt: ${why}${rest}`,
    {
      hint: `to rotate it: ${command.map(shellWord).join(' ')}`,
      cause: error,
    },
  );
}

/** Returns the name of the key, and the words of the command that rotates it: for a path, force is a parameter. */
function forced({ path, command, given, everywhere }: Invocation, done: readonly string[]) {
  if (path.join(' ') === 'write') {
    const [place = ''] = given.arguments;
    const name = ROTATE.exec(trimSlashes(place))?.groups?.['name'];
    return { name, command: ['coffer', 'write', place, 'force=true'] };
  }
  const name = given.arguments.find((word) => !done.includes(word));
  const mount = textOption(everywhere, 'mount');
  const options = [
    ...typedOptions(command, given.options),
    ...(mount === undefined ? [] : ['--mount', mount]),
  ];
  return { name, command: ['coffer', ...path, name ?? '', ...options, '--force'] };
}
