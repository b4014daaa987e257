import { asCofferError } from '../../ground/errors.ts';
import type { Runner } from '../../operations/declaration/operation.ts';
import {
  copiedFirst,
  counted,
  type ResourceDocument,
  type TagResource,
} from '../../operations/tags/documents.ts';
import { rename } from '../../operations/tags/tags.ts';
import { foldCase } from '../../tags/names.ts';
import type { Command } from '../command.ts';
import { FAILED } from '../exit-codes.ts';
import type { RawValues } from '../files/operation-values.ts';
import { commandOf } from '../operation-command.ts';
import type { Session } from '../session.ts';
import { withPermission } from '../with-permission.ts';

const plain = commandOf(['tags', 'rename'], 'Rename a tag, or merge it into another', rename);

const MERGE = 'merge';

/** Renames a tag. A user at a terminal is asked before two tags are merged; scripts are not, as before. */
export const command: Command = {
  ...plain,
  details: `${plain.details ?? ''}On a terminal, --merge asks before it deletes the tag; --yes skips the question.`,
  async run(session, given) {
    const [tag, name] = given.arguments;
    const isAsked = given.options.has(MERGE) && !session.settings.yes && session.prompts.available();
    if (!isAsked || tag === undefined || name === undefined) return plain.run(session, given);
    const runner = await withPermission(session, await session.runner());
    const question = await questionOf(session, runner, { tag, name });
    if (question !== undefined && !(await session.confirmed(async () => question))) return FAILED;
    return plain.run(session, given);
  },
};

/** Returns the question; undefined if nothing will be merged, because one of the tags does not exist or both are one. */
async function questionOf(
  session: Session,
  runner: Runner,
  { tag, name }: { readonly tag: string; readonly name: string },
): Promise<string | undefined> {
  const what = `Merge ${tag} into ${name}?`;
  const consequence = `${tag} is deleted. ${copiedFirst()}`;
  try {
    const from = await shown(runner, await resolved(runner, tag));
    const organization_name = session.settings.organization ?? from.relationships.organization.data.id;
    const into = await shown(runner, { organization_name, tag_name: foldCase(name) });
    if (from.id === into.id) return undefined;
    const count = from.attributes['instance-count'];
    if (count === 0) return `${what} ${consequence}`;
    const gaining = `${counted(count, 'workspace')} with ${tag} ${count === 1 ? 'gets' : 'get'} ${name}`;
    return `${what} ${gaining}, and ${consequence}`;
  } catch (error) {
    if (asCofferError(error)?.kind === 'not-found') return undefined;
    // Tags that the caller may not read are merged without their counts.
    return `${what} ${consequence}`;
  }
}

const resolved = async (runner: Runner, tag_id: string): Promise<RawValues> =>
  (await rename.cli?.resolve?.({ tag_id }, runner)) ?? { tag_id };

async function shown(runner: Runner, which: RawValues): Promise<TagResource> {
  const { data } = await runner.run('tags show', which);
  return (data as ResourceDocument<TagResource>).data;
}
