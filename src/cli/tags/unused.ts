import type { Runner } from '../../operations/declaration/operation.ts';
import type { Resources, TagResource } from '../../operations/tags/documents.ts';
import { UNUSED_ONLY } from '../../operations/tags/tags.ts';
import { inCalls, type Piece } from './in-calls.ts';

/**
 * The calls that delete tags which no workspace carried when they were looked at; one that has come to a workspace since then stays.
 * @param onDeleted told the names that went, after each call.
 */
export const deletingUnused = (
  runner: Runner,
  organization_name: string,
  tags: readonly TagResource[],
  onDeleted: (names: readonly string[]) => void = () => {},
): readonly Piece[] =>
  inCalls(tags).map((part) => ({
    count: part.length,
    async run() {
      const data = part.map(({ id }) => id);
      const answer = await runner.run('tags delete', { organization_name, data, [UNUSED_ONLY]: true });
      const deleted = (answer.data as Resources<TagResource> | undefined)?.data ?? part;
      onDeleted(deleted.map(({ attributes }) => attributes.name));
    },
  }));
