import { invalid } from '../../ground/errors.ts';
import { meantText } from '../../ground/nearness.ts';
import { list } from '../../operations/tags/workspaces.ts';
import { foldCase, tagName } from '../../tags/names.ts';
import type { Command } from '../command.ts';
import { textsOption } from '../given.ts';
import { commandOf } from '../operation-command.ts';
import type { Session } from '../session.ts';
import { ALL_TAGS, ANY_TAG, NO_TAG, sameAs } from '../tags/chosen.ts';

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
      hint: "if you meant the wildcard *, quote it: --without-tag '*'",
      cause: error,
    });
  }
}

const plain = commandOf(['workspaces', 'list'], 'List or search workspaces', list);

/** Adds `--all-tags`, an alias of `--tag`, as the counterpart of `--any-tag`. */
export const command: Command = {
  ...plain,
  options: plain.options.flatMap((option) => (option.flag === TAG ? [option, sameAs(TAG)] : [option])),
  async run(session, given) {
    for (const name of textsOption(given.options, NO_TAG).flatMap((names) => names.split(',')))
      checkTag(name);
    const tags = [TAG, ALL_TAGS].flatMap((flag) => textsOption(given.options, flag));
    const options = new Map(given.options);
    if (options.delete(ALL_TAGS)) options.set(TAG, tags);
    const exitCode = await plain.run(session, { ...given, options });
    const named = [...tags, ...textsOption(given.options, ANY_TAG)].flatMap((names) => names.split(','));
    if (named.length > 0 && !session.settings.quiet) await sayMistyped(session, named);
    return exitCode;
  },
};

/** Says which tags were probably meant by names that no tag has: a list for them is empty, or lacks something. */
async function sayMistyped(session: Session, names: readonly string[]): Promise<void> {
  const { existingNear, MAX_COMPARED } = await import('../near-names.ts');
  const runner = await session.runner();
  for (const name of new Set(
    names.map((text) => foldCase(text.trim())).filter((text) => !text.includes('*')),
  )) {
    const near = await existingNear(session, runner, { kind: 'tag', name, most: MAX_COMPARED });
    if (near.length > 0) session.say(`No tag is named "${name}"; ${meantText(near)}`);
  }
}
