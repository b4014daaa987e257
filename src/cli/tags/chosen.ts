import type { Runner } from '../../operations/declaration/operation.ts';
import type { WorkspaceResource } from '../../operations/tags/documents.ts';
import { anyOf, isPattern, wildcard } from '../../tags/names.ts';
import { type OptionSpec, taking } from '../command.ts';
import { type Given, textsOption } from '../given.ts';
import type { Session } from '../session.ts';
import { keysIn, withBindings } from './surroundings.ts';

/** Options that select workspaces by name and tags. */

const WHERE_NAME = 'where-name';
const WHERE_TAG = 'where-tag';
export const ALL_TAGS = 'all-tags';
export const ANY_TAG = 'any-tag';
export const NO_TAG = 'without-tag';

const choosing = (
  flag: string,
  metavar: string,
  help: string,
  offers: 'tag' | 'workspace' = 'tag',
): OptionSpec => taking(flag, metavar, help, { takes: 'values', offers });

/** Declares `--all-tags`, the counterpart of `--any-tag`, as an alias of a flag. */
export const sameAs = (flag: string): OptionSpec => choosing(ALL_TAGS, 'TAG', `Alias of --${flag}.`);

export const whereOptions: readonly OptionSpec[] = [
  choosing(WHERE_NAME, 'NAME', 'Choose workspaces by name; * is a wildcard.', 'workspace'),
  choosing(
    WHERE_TAG,
    'TAG',
    'Choose workspaces with all of these tags; env:* stands for any tag that begins with env:.',
  ),
  sameAs(WHERE_TAG),
  choosing(ANY_TAG, 'TAG', 'Choose workspaces with any of these tags.'),
  { ...choosing(NO_TAG, 'TAG', 'Choose workspaces with none of these tags.'), former: ['no-tag'] },
];

export interface Choice {
  readonly names: readonly string[];
  readonly allTags: readonly string[];
  readonly anyTags: readonly string[];
  readonly noTags: readonly string[];
}

/** Returns the selection; undefined if no option is given. */
export function choiceOf(options: Given['options']): Choice | undefined {
  if (!whereOptions.some(({ flag }) => options.has(flag))) return undefined;
  const listed = (...flags: readonly string[]): readonly string[] =>
    flags.flatMap((flag) => textsOption(options, flag)).flatMap((text) => text.split(','));
  return {
    names: listed(WHERE_NAME),
    allTags: listed(WHERE_TAG, ALL_TAGS),
    anyTags: listed(ANY_TAG),
    noTags: listed(NO_TAG),
  };
}

/**
 * Returns the matching workspaces. The filters that a server supports reduce its response; everything is checked again
 * here.
 */
export async function chosenWorkspaces(
  session: Session,
  runner: Runner,
  organization_name: string,
  choice: Choice,
): Promise<{ readonly workspaces: readonly WorkspaceResource[]; readonly isWhole: boolean }> {
  const plain = (tags: readonly string[]): string => tags.filter((tag) => !isPattern(tag)).join(',');
  const all = plain(choice.allTags);
  const none = plain(choice.noTags);
  const query = {
    organization_name,
    'search[tags]': all === '' ? undefined : all,
    'search[exclude-tags]': none === '' ? undefined : none,
  };
  const { document, isWhole } = await withBindings<WorkspaceResource>(
    session,
    runner,
    'workspaces list',
    query,
  );
  return { workspaces: document.data.filter(chooses(choice, keysIn(document))), isWhole };
}

/**
 * Returns a filter for workspaces: by name, and by the tags that they must or must not have. A word matches tags of the
 * pool, and keys with any value.
 * @see docs/decisions/0193
 */
function chooses(
  { names, allTags, anyTags, noTags }: Choice,
  keysOf: (workspace: WorkspaceResource) => readonly string[],
): (workspace: WorkspaceResource) => boolean {
  const isNamed = anyOf(names);
  const needed = allTags.map(wildcard);
  const isAny = anyOf(anyTags);
  const isUnwanted = anyOf(noTags);
  return (workspace) => {
    const { name, 'tag-names': tags } = workspace.attributes;
    if (names.length > 0 && !isNamed(name)) return false;
    const carried = [...tags, ...keysOf(workspace)];
    return (
      needed.every((fits) => carried.some(fits)) &&
      (anyTags.length === 0 || carried.some(isAny)) &&
      !carried.some(isUnwanted)
    );
  };
}
