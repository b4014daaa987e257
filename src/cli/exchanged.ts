import { invalid } from '../ground/errors.ts';
import { RESOURCE_KINDS } from '../operations/declaration/resource-kinds.ts';
import { listedKind, NameList } from './listed-names.ts';
import { MAX_COMPARED } from './near-names.ts';
import type { Session } from './session.ts';
import { shellWord } from './terminal/shell-word.ts';

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
  const keys = new NameList(runner, await listedKind(RESOURCE_KINDS.key), MAX_COMPARED);
  if (!(await keys.has(value).catch(() => false))) return;
  const command = ['coffer', ...path, shellWord(value)].join(' ');
  throw invalid(`"${value}" is a key, and the word before it is not: the key comes first`, {
    hint: `run "${command} VALUE"; to create a key for the text "${value}", run "coffer transit keys create NAME" first`,
  });
}
