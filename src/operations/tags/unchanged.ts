import { meantText, nearest } from '../../ground/nearness.ts';
import { isObject, type JsonObject } from '../../ground/objects.ts';
import type { Binding } from '../../tags/bindings.ts';
import { foldCase, parseIdentifier } from '../../tags/names.ts';
import { unlessUnexpected } from '../declaration/deleting.ts';
import type { Runner } from '../declaration/operation.ts';
import { TAGGED } from '../json-api/bindings.ts';
import { MOST_LINKED } from '../json-api/linkage.ts';
import type { ListDocument } from '../json-api/pages.ts';
import {
  type BindingResource,
  counted,
  type ResourceDocument,
  type TagResource,
  type WorkspaceResource,
} from './documents.ts';

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

/** Names the tags of a workspace that are similar to those which it does not have. */
export async function tagsNear(
  { workspace_id, data }: JsonObject,
  runner: Runner,
): Promise<readonly string[]> {
  const workspace = await shown<WorkspaceResource>(runner, 'workspaces show', { workspace_id });
  const own = workspace?.attributes['tag-names'] ?? [];
  const names = await Promise.all(
    (Array.isArray(data) ? data : []).map((one: unknown) => nameOf(one, runner)),
  );
  return names.flatMap((name = '') => {
    const near = own.includes(name) ? [] : nearest(name, own);
    return near.length === 0 ? [] : [`the workspace has no tag "${name}"; ${meantText(near)}`];
  });
}

/** Names the tags without a value that a search for key-value tags was for, if it found nothing. */
export async function plainTagsAmong(
  { organization_name, [TAGGED]: any }: JsonObject,
  runner: Runner,
  document?: ListDocument<unknown>,
): Promise<readonly string[]> {
  if (document?.meta.pagination['total-count'] !== 0) return [];
  const said: string[] = [];
  for (const { key: name, value } of (any ?? []) as readonly Partial<Binding>[]) {
    if (name === undefined || value !== undefined) continue;
    const tag = await shown<TagResource>(runner, 'tags show', { organization_name, tag_name: name });
    const is = `${name} is a tag without a value: to list its workspaces`;
    if (tag?.attributes.name === name) said.push(`${is}, run "coffer tags show ${name}"`);
  }
  return said;
}

/**
 * Returns how many of the keys no KEY=VALUE tag has that is set on the workspace or the project itself.
 * @param list operation that lists these tags
 * @param owner its parameter
 */
export async function bindingsMissing(
  runner: Runner,
  list: string,
  owner: JsonObject,
  keys: unknown,
): Promise<number> {
  const found = await shown<readonly BindingResource[]>(runner, list, owner);
  if (found === undefined || !Array.isArray(keys)) return 0;
  const own = new Set(found.map(({ attributes }) => attributes.key));
  return keys.filter((key) => !own.has(String(key))).length;
}

/** Returns how many of the tags, given by name, ID or as KEY=VALUE, a key has, or does not have. */
export const tagsOfKeyAlready =
  (has: boolean) =>
  async ({ name, tags }: JsonObject, runner: Runner): Promise<number> => {
    const outcome = await runner.run('transit keys tags', { name }).catch(unlessUnexpected);
    const own = isObject(outcome?.data) ? outcome.data['tags'] : undefined;
    if (!Array.isArray(own) || !Array.isArray(tags)) return 0;
    let count = 0;
    for (const given of tags.map(String)) {
      const isId = parseIdentifier('tag', given) !== undefined;
      const isBinding = given.includes('=');
      const text = isBinding ? given : await nameOf(isId ? { id: given } : { name: given }, runner);
      if (text !== undefined && own.includes(text) === has) count++;
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
  const outcome = await runner.run(operation, raw).catch(unlessUnexpected);
  return (outcome?.data as ResourceDocument<R> | undefined)?.data;
}

/** Returns the length of a list, before it is known to be one. */
export const lengthOf = (list: unknown): number => (Array.isArray(list) ? list.length : 0);

/** Words for the result of a change to several objects. */
export interface ChangeWords {
  /** Text for the number of objects that changed. */
  changed(count: number): string;
  /** Text if none of them changed. */
  unchanged(count: number): string;
  /** Singular of the objects: `workspace`. */
  readonly noun: string;
}

/** Words for tags that are added to something. */
export const taggedWords = (subject: string): ChangeWords => ({
  noun: 'tag',
  changed: (count) => `Added ${counted(count, 'tag')} to ${subject}`,
  unchanged: (count) => `${subject} already has ${count === 1 ? 'the tag' : 'all of the tags'}`,
});

/** Words for tags that are removed from something. */
export const untaggedWords = (subject: string): ChangeWords => ({
  noun: 'tag',
  changed: (count) => `Removed ${counted(count, 'tag')} from ${subject}`,
  unchanged: (count) => `${subject} does not have ${count === 1 ? 'the tag' : 'any of the tags'}`,
});

/**
 * Formats the result of a change to several objects.
 * @param already number of those that did not change
 */
export function changeText({ changed, unchanged, noun }: ChangeWords, total: number, already = 0): string {
  if (already === 0) return `${changed(total)}.`;
  if (already >= total) return `No changes made: ${unchanged(total)}.`;
  return `${changed(total - already)}. ${counted(already, noun)} unchanged.`;
}
