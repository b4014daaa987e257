import { isObject } from '../../ground/objects.ts';
import type { TypedLine } from '../completions/typed.ts';
import type { Session } from '../session.ts';

/* Names that depend on what is typed before them, or on the working directory. */

type Lister = (session: Session, line: TypedLine) => Promise<readonly string[]>;

/** Returns the names of the values of the file that the line names. Values are not decrypted. */
const valuesOf: Lister = async (session, { arguments: [path], options }) => {
  if (path === undefined) return [];
  const { Files } = await import('../secret-files/files.ts');
  const { file } = await new Files(session, options).open(path);
  return file.places.map(({ name }) => name);
};

const membersHere: Lister = async ({ environment }) => {
  const { keyringInSight } = await import('../team/known-members.ts');
  const cards = keyringInSight(environment)?.cards() ?? [];
  return [...new Set(cards.map(({ card }) => card.name))];
};

/** Returns the versions of the key that the line names. */
const versionsOf: Lister = async (session, { command, arguments: words }) => {
  const name = words[command.arguments.findIndex(({ offers }) => offers === 'key')];
  if (name === undefined) return [];
  const { data } = await (await session.runner()).run('transit keys read', { name });
  const keys = isObject(data) ? data['keys'] : undefined;
  return isObject(keys) ? Object.keys(keys) : [];
};

/** Lists by the kind of their names. */
export const LISTERS: Readonly<Record<string, Lister>> = {
  value: valuesOf,
  member: membersHere,
  'key-version': versionsOf,
};
