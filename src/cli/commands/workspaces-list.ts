import { list } from '../../operations/tags/workspaces.ts';
import type { Command } from '../command.ts';
import { textsOption } from '../given.ts';
import { commandOf } from '../operation-command.ts';
import { ALL_TAGS, sameAs } from '../tags/chosen.ts';

const TAG = 'tag';

const plain = commandOf(['workspaces', 'list'], 'List or search workspaces', list);

/** `--all-tags` is the opposite of `--any-tag`, as in `tags attach`. */
export const command: Command = {
  ...plain,
  options: plain.options.flatMap((option) => (option.flag === TAG ? [option, sameAs(TAG)] : [option])),
  run(session, given) {
    if (!given.options.has(ALL_TAGS)) return plain.run(session, given);
    const tags = [TAG, ALL_TAGS].flatMap((flag) => textsOption(given.options, flag));
    const options = new Map([...given.options, [TAG, tags] as const]);
    options.delete(ALL_TAGS);
    return plain.run(session, { ...given, options });
  },
};
