import { MOST_LINKED } from '../../operations/json-api/linkage.ts';
import { counted, type TagResource } from '../../operations/tags/documents.ts';
import { deletionQuestion, remove } from '../../operations/tags/tags.ts';
import { foldCase } from '../../tags/names.ts';
import { tagNotFound } from '../../tags/organization.ts';
import type { Command } from '../command.ts';
import { everyPage } from '../every-page.ts';
import { DONE, FAILED } from '../exit-codes.ts';
import { printResult } from '../files/output.ts';
import { commandOf } from '../operation-command.ts';
import type { Session } from '../session.ts';
import { carryOut, inCalls } from '../tags/in-calls.ts';
import { organizationOf } from '../tags/surroundings.ts';

const plain = commandOf(
  ['tags', 'delete'],
  'Delete tags and remove them from all workspaces and keys',
  remove,
);

/** Deletes tags in one call, or in several calls if there are too many for one. */
export const command: Command = {
  ...plain,
  details: `Up to ${MOST_LINKED.toLocaleString('en')} tags are deleted atomically. More are deleted in batches of this size.`,
  run: (session, given) =>
    given.arguments.length > MOST_LINKED ? deleteMany(session, given.arguments) : plain.run(session, given),
};

/**
 * Deletes many tags. All tags are read at once instead of one by one: an unknown name is reported before anything is
 * deleted.
 */
async function deleteMany(session: Session, given: readonly string[]): Promise<number> {
  const organization_name = organizationOf(session);
  const runner = await session.runner();
  const { document, isWhole } = await everyPage<TagResource>(session, runner, {
    operation: 'tags list',
    raw: {
      organization_name,
    },
  });
  const known = new Map(document.data.map((tag) => [tag.attributes.name, tag]));
  for (const tag of document.data) known.set(tag.id, tag);
  const tags = new Set(
    given.map((text) => {
      const tag = known.get(text) ?? known.get(foldCase(text));
      if (tag === undefined) throw tagNotFound(text);
      return tag;
    }),
  );
  session.requireConsent();
  if (!(await session.confirmed(async () => deletionQuestion([...tags])))) return FAILED;
  const pieces = inCalls([...tags].map(({ id }) => id)).map((data) => ({
    count: data.length,
    run: () => runner.run(remove, { organization_name, data }),
  }));
  await carryOut(
    session,
    'tags',
    pieces,
    'run the command again with the tags that "coffer tags list" still lists',
  );
  // With JSON output, prints an empty document, as for a call without a result.
  if (session.settings.format === 'json') await printResult(session, {}, {});
  session.remark(`Deleted ${counted(tags.size, 'tag')}.`);
  return isWhole ? DONE : FAILED;
}
