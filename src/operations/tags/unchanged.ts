import { asCofferError } from '../../ground/errors.ts';
import { isObject, type JsonObject } from '../../ground/objects.ts';
import { foldCase } from '../../tags/names.ts';
import type { Runner } from '../declaration/operation.ts';
import { MOST_LINKED } from '../json-api/linkage.ts';
import { counted, type ResourceDocument, type TagResource, type WorkspaceResource } from './documents.ts';

/* Parts of a change of tags that were already so before, so that the message says what changed. */

/** Returns how many of the workspaces have a tag, or do not have it. Those that cannot be read do not count. */
export const workspacesAlready =
  (has: boolean) =>
  async ({ tag_id, data }: JsonObject, runner: Runner): Promise<number> => {
    const tag = await shown<TagResource>(runner, 'tags show', { tag_id });
    const ids = Array.isArray(data) ? data.slice(0, MOST_LINKED) : [];
    let count = 0;
    for (const workspace_id of tag === undefined ? [] : ids) {
      const workspace = await shown<WorkspaceResource>(runner, 'workspaces show', { workspace_id });
      if (workspace?.attributes['tag-names'].includes(tag?.attributes.name ?? '') === has) count++;
    }
    return count;
  };

/** Returns how many of the tags a workspace has, or does not have. */
export const tagsAlready =
  (has: boolean) =>
  async ({ workspace_id, data }: JsonObject, runner: Runner): Promise<number> => {
    const workspace = await shown<WorkspaceResource>(runner, 'workspaces show', { workspace_id });
    if (workspace === undefined || !Array.isArray(data)) return 0;
    const names = new Set(workspace.attributes['tag-names']);
    let count = 0;
    for (const reference of data) {
      const name = await nameOf(reference, runner);
      if (name !== undefined && names.has(name) === has) count++;
    }
    return count;
  };

async function nameOf(reference: unknown, runner: Runner): Promise<string | undefined> {
  if (!isObject(reference)) return undefined;
  const { id: tag_id, name } = reference;
  if (typeof name === 'string') return foldCase(name);
  return (await shown<TagResource>(runner, 'tags show', { tag_id }))?.attributes.name;
}

async function shown<R>(runner: Runner, operation: string, raw: JsonObject): Promise<R | undefined> {
  try {
    return ((await runner.run(operation, raw)).data as ResourceDocument<R>).data;
  } catch (error) {
    // The change itself reports what it is refused for.
    if (asCofferError(error) === undefined) throw error;
    return undefined;
  }
}

/** Words for the result of a change to several objects. */
export interface ChangeWords {
  /** Text for the number of objects that changed. */
  changed(count: number): string;
  /** Text if none of them changed. */
  unchanged(count: number): string;
  /** Singular of the objects: `workspace`. */
  readonly noun: string;
}

/**
 * Formats the result of a change to several objects.
 * @param already number of those that did not change
 */
export function changeText({ changed, unchanged, noun }: ChangeWords, total: number, already = 0): string {
  if (already === 0) return `${changed(total)}.`;
  if (already >= total) return `No changes made: ${unchanged(total)}.`;
  return `${changed(total - already)}. ${counted(already, noun)} unchanged.`;
}
