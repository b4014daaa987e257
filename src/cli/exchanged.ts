import { invalid } from '../ground/errors.ts';
import { RESOURCE_KINDS } from '../operations/declaration/resource-kinds.ts';
import { KEY_NAME } from '../transit/key-document.ts';
import type { CalledOperation } from './file-as-key.ts';
import type { RawValues } from './files/operation-values.ts';
import { listedKind, NameList } from './listed-names.ts';
import { MAX_COMPARED } from './near-names.ts';
import type { Session } from './session.ts';
import { shellWord } from './terminal/shell-word.ts';

/**
 * Refuses a key and a value that were exchanged, where the user cannot be asked whether a new key is meant: the value, which
 * may be a secret, would become the name of a key. Keys are listed, not looked up by name, because an agent's audit log
 * would record the name. Scripts send a server no additional requests.
 * @throws `invalid` if no key has the name, and the value is the name of one
 */
export async function refuseExchanged(
  session: Session,
  { path, operation: { cli }, spec }: CalledOperation,
  values: RawValues,
  value: string,
): Promise<void> {
  if (session.settings.address !== undefined || !KEY_NAME.test(value)) return;
  const name = values[spec.positional[0] ?? ''];
  const runner = await session.runner();
  const created = await cli?.byTheWay?.(values, runner).catch(() => []);
  if (name === value || created?.some(({ kind }) => kind === 'key') !== true) return;
  const keys = new NameList(runner, await listedKind(RESOURCE_KINDS.key), MAX_COMPARED);
  const names: readonly string[] = await keys.near(value).catch(() => []);
  if (!names.includes(value)) return;
  const command = ['coffer', ...path, shellWord(value)].join(' ');
  throw invalid(`"${value}" is a key, and the word before it is not: the key comes first`, {
    hint: `run "${command} VALUE"; to create a key for the text "${value}", run "coffer transit keys create NAME" first`,
  });
}
