import { FOR_GOOD } from '../declaration/deleting.ts';

/**
 * Returns the end of the question before tags, or workspaces with tags, are deleted.
 * @param name of the organization that the copy is of, if the command does not have it as an option
 */
export function copiedFirst(name?: string): string {
  const command = name === undefined ? '"coffer tags export"' : `"coffer tags export --org ${name}"`;
  return `${FOR_GOOD.slice(0, -1)}; keep a copy first with ${command}.`;
}
