import { asCofferError, type CofferError, invalid, refusedAs } from '../ground/errors.ts';
import { isObject } from '../ground/objects.ts';
import { notExportable } from '../transit/export.ts';
import type { ArgumentSpec, Invocation, OptionSpec } from './command.ts';
import { textOption } from './given.ts';
import type { Session } from './session.ts';
import { publicVersions } from './signatures/named-keys.ts';
import { withPermission } from './with-permission.ts';

/** Hint of an error about a file that would be replaced. @see files/out-file.ts */
const REPLACING = 'use --force to overwrite it';

/** Command that creates a missing key: a new name is no mistake there. */
const CREATING = 'transit encrypt';

/**
 * Returns the error about a key that does not exist, or cannot sign, if a script's command was refused because of an
 * existing file, and --force would only lead to this error. The key is looked up in the local store, if that needs no question.
 * @returns undefined if the key exists, or if that cannot be seen
 */
export async function aboutKeyFirst(
  error: CofferError,
  { path, command, given }: Invocation,
  session: Session,
): Promise<CofferError | undefined> {
  if (error.message === 'missing required value --key-type')
    return aboutExport(session, given.arguments[0] ?? '');
  const isOfFile = error.kind === 'exists' && error.hint === REPLACING;
  if (!isOfFile || session.settings.address !== undefined || session.prompts.available()) return undefined;
  const isKey = ({ offers }: ArgumentSpec | OptionSpec): boolean =>
    offers === 'key' || offers === 'signing-key';
  const option = command.options.find(isKey)?.flag;
  const [first] = command.arguments;
  const isFirst = first !== undefined && isKey(first);
  const name = isFirst ? given.arguments[0] : option && textOption(given.options, option);
  if (name === undefined || name === '' || path.join(' ') === CREATING) return undefined;
  const runner = await session.runnerUnasked();
  if (runner === undefined) return undefined;
  const asking = await withPermission(session, runner);
  const signs = command.options.some(({ flag, offers }) => flag === option && offers === 'signing-key');
  try {
    if (signs) await publicVersions(asking, name);
    else await asking.run('transit keys read', { name });
    return undefined;
  } catch (refusal) {
    const known = asCofferError(refusal);
    return known?.kind === 'not-found' || known?.kind === 'unsupported' ? known : undefined;
  }
}

/** Returns the refusal of an export, whatever is to be exported: of a key without a public part. */
async function aboutExport(session: Session, name: string): Promise<CofferError | undefined> {
  const runner = session.settings.address === undefined ? await session.runnerUnasked() : undefined;
  if (runner === undefined) return undefined;
  const asking = await withPermission(session, runner);
  const outcome = await asking.run('transit keys read', { name }).catch(refusedAs(undefined));
  const key = isObject(outcome?.data) ? outcome.data : {};
  const hasPublic = Object.values(key['keys'] ?? {}).some((version) => Boolean(version?.['public_key']));
  if (key['exportable'] !== false || hasPublic) return undefined;
  const { message, hint } = notExportable(name);
  return invalid(message, { hint });
}
