import type { Runner } from '../../operations/declaration/operation.ts';
import type { Resources, TagResource } from '../../operations/tags/documents.ts';
import { UNUSED_ONLY } from '../../operations/tags/tags.ts';
import { type CountedCall, inCalls } from './in-calls.ts';

/**
 * Returns the calls that delete tags that no workspace had when they were read; a tag attached to a workspace since
 * then is kept.
 * @param onDeleted called after each call with the deleted names
 */
export const deletingUnused = (
  runner: Runner,
  organization_name: string,
  tags: readonly TagResource[],
  onDeleted: (names: readonly string[]) => void = () => {},
): readonly CountedCall[] =>
  inCalls(tags).map((part) => ({
    count: part.length,
    async run() {
      const data = part.map(({ id }) => id);
      const answer = await runner.run('tags delete', { organization_name, data, [UNUSED_ONLY]: true });
      const deleted = (answer.data as Resources<TagResource> | undefined)?.data ?? part;
      onDeleted(deleted.map(({ attributes }) => attributes.name));
    },
  }));
