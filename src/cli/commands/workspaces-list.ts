import { invalid } from '../../ground/errors.ts';
import { list } from '../../operations/tags/workspaces.ts';
import { tagName } from '../../tags/names.ts';
import type { Command } from '../command.ts';
import { textsOption } from '../given.ts';
import { commandOf } from '../operation-command.ts';
import { ALL_TAGS, NO_TAG, sameAs } from '../tags/chosen.ts';

const TAG = 'tag';

/**
 * Refuses what cannot be the name of a tag: a `*` without quotation marks becomes the names of files.
 * @throws `invalid`
 */
function checkTag(text: string): void {
  const name = text.trim();
  if (name === '' || name.includes('*')) return;
  try {
    tagName(name);
  } catch (error) {
    throw invalid(`${JSON.stringify(name)} cannot be the name of a tag`, {
      field: `--${NO_TAG}`,
      hint: "put * in quotation marks: --without-tag '*'",
      cause: error,
    });
  }
}

const plain = commandOf(['workspaces', 'list'], 'List or search workspaces', list);

/** `--all-tags` is the opposite of `--any-tag`, as in `tags attach`. */
export const command: Command = {
  ...plain,
  options: plain.options.flatMap((option) => (option.flag === TAG ? [option, sameAs(TAG)] : [option])),
  run(session, given) {
    for (const name of textsOption(given.options, NO_TAG).flatMap((names) => names.split(',')))
      checkTag(name);
    if (!given.options.has(ALL_TAGS)) return plain.run(session, given);
    const tags = [TAG, ALL_TAGS].flatMap((flag) => textsOption(given.options, flag));
    const options = new Map([...given.options, [TAG, tags] as const]);
    options.delete(ALL_TAGS);
    return plain.run(session, { ...given, options });
  },
};
