import { asCofferError } from '../../ground/errors.ts';
import { tagsOf } from '../../operations/tags/relationships.ts';
import { tags as tagsOfKey } from '../../operations/transit/key-tags.ts';
import type { Command } from '../command.ts';
import { commandOf } from '../operation-command.ts';
import { switching } from '../parse/everywhere.ts';

const KEY = 'key';

const ofWorkspace = commandOf(['tags', 'of'], 'List the tags of a workspace or key', tagsOf);
const ofKey = commandOf(['transit', 'keys', 'tags'], 'List the tags that a key carries', tagsOfKey);

/** Command that lists the tags of a workspace; if there is none of that name, those of the key of that name. */
export const command: Command = {
  ...ofWorkspace,
  options: [
    ...ofWorkspace.options,
    switching(KEY, 'The name is that of a key, also where a workspace has it.'),
  ],
  examples: [
    ...ofWorkspace.examples,
    ['coffer tags of orders --key', 'the tags of the key orders, as "transit keys tags orders" lists them'],
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
