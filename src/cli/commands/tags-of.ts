import { asCofferError } from '../../ground/errors.ts';
import { tagsOf } from '../../operations/tags/relationships.ts';
import { tags as tagsOfKey } from '../../operations/transit/key-tags.ts';
import type { Command } from '../command.ts';
import { commandOf } from '../operation-command.ts';
import { switching } from '../parse/everywhere.ts';

const KEY = 'key';

const ofWorkspace = commandOf(['tags', 'of'], 'List the tags of a workspace or transit key', tagsOf);
const ofKey = commandOf(['transit', 'keys', 'tags'], 'List the tags of a key', tagsOfKey);

/** Command that lists the tags of a workspace; if there is none of that name, those of the key of that name. */
export const command: Command = {
  ...ofWorkspace,
  arguments: ofWorkspace.arguments.map((argument) =>
    argument.metavar === 'WS'
      ? { ...argument, help: 'Name or ID of the workspace, or name of the transit key.' }
      : argument,
  ),
  options: [
    ...ofWorkspace.options,
    switching(KEY, 'Take WS as the name of a transit key, even if a workspace has the same name.'),
  ],
  examples: [
    ...ofWorkspace.examples,
    ['coffer tags of orders --key', 'List the tags of a transit key, like "coffer transit keys tags orders"'],
  ],
  async run(session, given) {
    const [name = ''] = given.arguments;
    const asKey = { arguments: [name], options: given.options };
    if (given.options.has(KEY)) return ofKey.run(session, asKey);
    try {
      return await ofWorkspace.run(session, given);
    } catch (error) {
      const known = asCofferError(error);
      if (known?.kind !== 'not-found' && known?.field !== '--org') throw error;
      const isKey = (await session.runner()).run('transit keys read', { name }).then(
        () => true,
        () => false,
      );
      if (!(await isKey)) throw error;
      return ofKey.run(session, asKey);
    }
  },
};
