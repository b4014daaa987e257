import { FOR_GOOD } from '../declaration/deleting.ts';

/**
 * Returns the end of the question before tags, or workspaces with tags, are deleted.
 * @param name of the organization that the copy is of, if the command does not have it as an option
 * @param lacking what is deleted, and is not in that copy
 */
export function copiedFirst(name?: string, lacking?: string): string {
  const command = name === undefined ? '"coffer tags export"' : `"coffer tags export --org ${name}"`;
  const more =
    lacking === undefined
      ? ''
      : ` That has no ${lacking}; "coffer store backup FILE" on a local store has everything.`;
  return `${FOR_GOOD.slice(0, -1)}; keep a copy first with ${command}.${more}`;
}

/** What a copy of tags lacks if tags are deleted, for `copiedFirst`. */
export const TAGS_OF_KEYS = 'tags of keys';
