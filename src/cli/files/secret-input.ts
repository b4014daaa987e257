import { asCofferError, invalid } from '../../ground/errors.ts';
import type { Session } from '../session.ts';
import { withPermission } from '../with-permission.ts';
import type { RawValues } from './operation-values.ts';

/**
 * Refuses a secret that is given as an argument: as such, or as a parameter like those of `vault write`, which would
 * otherwise become a policy or an address range.
 * @param values other parameters
 * @throws `invalid` without the secret
 */
export function refuseSecretArgument(param: string, value: string | undefined, values: RawValues): void {
  const words = Object.values(values).flat();
  const isParameter = words.some((word) => typeof word === 'string' && word.startsWith(`${param}=`));
  if (!isParameter && (value === undefined || value === '-')) return;
  throw invalid('secrets cannot be passed as arguments: other users could see them', {
    field: param,
    hint: 'pass it on standard input (-) or with --in, or omit it to be prompted',
  });
}

/** Other sources of a secret, and the mount that it is for. */
interface TypedSecret {
  readonly value: string | undefined;
  readonly file: string | undefined;
  readonly mount: string | undefined;
}

/** Secret that a command takes. */
interface SoughtSecret {
  readonly param: string;
  readonly secret?: string;
  /** The operation that reads the object; a new one needs the secret. */
  readonly onRequest?: true | string;
  /** The other parameters. */
  readonly checked: RawValues;
}

/**
 * Asks the user for a new secret, if no other source gives one.
 * @returns undefined if the user was not asked, or if an empty answer is allowed and given
 */
export async function askedSecret(
  session: Session,
  sought: SoughtSecret,
  { value, file, mount }: TypedSecret,
): Promise<string | undefined> {
  const { param, secret: question = param, onRequest, checked } = sought;
  // Data on standard input is the secret, if one is required.
  const isPiped = onRequest === undefined && !session.streams.in.isTerminal;
  if (value !== undefined || file !== undefined || isPiped || !session.prompts.available()) return undefined;
  if (onRequest === undefined) return session.prompts.newSecret(question);
  const isNew = onRequest === true ? undefined : await isNewOne(session, onRequest, checked, mount);
  const kept = isNew === undefined ? 'for none or to keep the current one' : 'to keep the current one';
  const asked = isNew === true ? question : `${question} (press Enter ${kept})`;
  for (;;) {
    const first = await session.prompts.secret(asked);
    if (first === '' && isNew === true) {
      session.write(`A new user needs a ${question.toLowerCase()}.`);
      continue;
    }
    if (first === '') return undefined;
    if ((await session.prompts.secret('Once more')) === first) return first;
    session.write('The entries do not match, try again.');
  }
}

/** Whether the object does not exist yet; undefined if the caller may not look. */
async function isNewOne(
  session: Session,
  operation: string,
  { name }: RawValues,
  mount: string | undefined,
): Promise<boolean | undefined> {
  try {
    await (await withPermission(session, await session.runner(), mount)).run(operation, { name });
    return false;
  } catch (error) {
    const known = asCofferError(error);
    if (known === undefined) throw error;
    return known.kind === 'not-found' ? true : undefined;
  }
}
