import { isRegularFile } from '../ground/directories.ts';
import { CofferError, invalid } from '../ground/errors.ts';
import { isMissing } from '../operations/declaration/deleting.ts';
import type { Operation } from '../operations/declaration/operation.ts';
import { formatOf } from '../secret-files/formats.ts';
import { KEY_NAME } from '../transit/key-document.ts';
import { filledWithKeys, hintWithKeys } from './candidates.ts';
import { isCiphertext } from './files/beginning.ts';
import type { Given } from './given.ts';
import { BATCH, IN, type OperationSpec } from './parse/operation-spec.ts';
import type { Session } from './session.ts';
import { shellWord } from './terminal/shell-word.ts';
import { withPermission } from './with-permission.ts';

/** Operation that a command runs, with the words of the command. */
export interface CalledOperation {
  readonly path: readonly string[];
  readonly operation: Operation;
  readonly spec: OperationSpec;
}

/**
 * Refuses the name of a file in the place of a key, if no key has it and nothing else is given to work on: the command
 * would wait for the terminal, or take nothing for its input.
 * @throws `invalid` with the command that takes the file, or `not-found` if the operation creates no key
 */
export async function refuseFileAsKey(
  session: Session,
  { path, operation, spec }: CalledOperation,
  { arguments: words, options }: Given,
): Promise<void> {
  const { input, byTheWay } = operation.cli ?? {};
  const [name] = words;
  const param = operation.params[spec.positional[0] ?? ''];
  const isKey = param?.cli.refersTo === 'key';
  const needsInput = input !== undefined && !input.optional && !input.onRequest;
  const hasInput = words.length > spec.positional.length || [IN, BATCH].some((flag) => options.has(flag));
  if (name === undefined || !needsInput || hasInput || !isRegularFile(name)) return;
  if (!isKey && param?.presence === 'optional')
    throw invalid(`${name} is a file, not a name`, {
      hint: `run "${['coffer', ...path].join(' ')} --in ${shellWord(name)}"`,
    });
  if (!isKey) return;
  const hint = hintFor(path, words);
  if (!KEY_NAME.test(name))
    throw invalid(`${name} is a file, not a key`, { hint: await hintWithKeys(session, hint) });
  const runner = await session.runner();
  const asking = await withPermission(session, runner);
  if (!(await isMissing(asking, 'transit keys read', { name }))) return;
  throw new CofferError(
    byTheWay === undefined ? 'not-found' : 'invalid',
    `${name} is a file, and no key has this name`,
    {
      hint: await filledWithKeys(session, runner, hint),
    },
  );
}

/** Returns the hint with the command that takes the file, for the key KEY. */
function hintFor(path: readonly string[], [name = '', ...others]: readonly string[]): string {
  const verb = path.at(-1);
  const file = shellWord(name);
  const isEnvelope = !isCiphertext(name);
  if (verb === 'decrypt' && isEnvelope) return `run "coffer transit envelope decrypt --in ${file}"`;
  if (verb === 'rewrap' && isEnvelope) return `run "coffer transit envelope rewrap --in ${file}"`;
  if (verb !== 'encrypt') return `run "${['coffer', ...path, 'KEY', ...others].join(' ')} --in ${file}"`;
  const values =
    formatOf(name) === undefined ? '' : `, or "coffer secrets encrypt ${file}" to encrypt only its values`;
  return `run "coffer transit envelope encrypt KEY ${file}"${values}`;
}
