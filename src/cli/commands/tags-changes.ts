import { asCofferError, invalid } from '../../ground/errors.ts';
import type { Runner } from '../../operations/declaration/operation.ts';
import { MOST_LINKED } from '../../operations/json-api/linkage.ts';
import { copiedFirst, TAGS_OF_KEYS } from '../../operations/tags/copied-first.ts';
import { counted, type TagResource } from '../../operations/tags/documents.ts';
import { deletionQuestion, remove, rename, UNUSED_ONLY } from '../../operations/tags/tags.ts';
import { anyOf, foldCase } from '../../tags/names.ts';
import { tagNotFound } from '../../tags/organization.ts';
import { type Command, type OwnCommand, switching, taking } from '../command.ts';
import { everyPage } from '../every-page.ts';
import { DONE, FAILED } from '../exit-codes.ts';
import { resolved } from '../files/operation-values.ts';
import { printResult } from '../files/output.ts';
import { textsOption } from '../given.ts';
import { commandOf } from '../operation-command.ts';
import type { Session } from '../session.ts';
import { carryOut, deletingUnused, inCalls } from '../tags/in-calls.ts';
import { organizationOf, shownTag } from '../tags/surroundings.ts';
import { withPermission } from '../with-permission.ts';

const renaming = commandOf(['tags', 'rename'], 'Rename a tag, or merge it into another', rename);

const MERGE = 'merge';

/** Renames a tag. A user at a terminal is asked before two tags are merged; scripts are not, as before. */
export const renameTag: Command = {
  ...renaming,
  details: `${renaming.details ?? ''}On a terminal, --merge asks before it deletes TAG; --yes skips the question.`,
  async run(session, given) {
    const [tag, name] = given.arguments;
    const isAsked = given.options.has(MERGE) && !session.settings.yes && session.prompts.available();
    if (!isAsked || tag === undefined || name === undefined) return renaming.run(session, given);
    const runner = await withPermission(session, await session.runner());
    const question = await questionOf(session, runner, { tag, name });
    if (question !== undefined && !(await session.confirmed(async () => question))) return FAILED;
    return renaming.run(session, given);
  },
};

/** Returns the question; undefined if nothing will be merged, because one of the tags does not exist or both are one. */
async function questionOf(
  session: Session,
  runner: Runner,
  { tag, name }: { readonly tag: string; readonly name: string },
): Promise<string | undefined> {
  const what = `Merge ${tag} into ${name}?`;
  const consequence = `${tag} is deleted. Keys with ${tag} get ${name}, too. ${copiedFirst(undefined, TAGS_OF_KEYS)}`;
  try {
    const from = await shownTag(runner, await resolved(rename, { tag_id: tag }, runner));
    const organization_name = session.settings.organization ?? from.relationships.organization.data.id;
    const into = await shownTag(runner, { organization_name, tag_name: foldCase(name) });
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

const deleting = commandOf(
  ['tags', 'delete'],
  'Delete tags and remove them from all workspaces and keys',
  remove,
);

/** Deletes tags in one call, or in several calls if there are too many for one. */
export const deleteTags: Command = {
  ...deleting,
  details: `Up to ${MOST_LINKED.toLocaleString('en')} tags are deleted atomically. More are deleted in batches of this size.`,
  run: (session, given) =>
    given.arguments.length > MOST_LINKED
      ? deleteMany(session, given.arguments)
      : deleting.run(session, given),
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
    raw: { organization_name },
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
  const ids = [...tags].map(({ id }) => id);
  await carryOut(
    session,
    'tags',
    inCalls(ids, (data) => runner.run(remove, { organization_name, data })),
    'run the command again with the tags that "coffer tags list" still lists',
  );
  if (session.settings.format === 'json') await printResult(session, {}, {});
  session.remark(`Deleted ${counted(tags.size, 'tag')}.`);
  return isWhole ? DONE : FAILED;
}

const UNUSED = 'unused';
const MATCHING = 'matching';
const DRY_RUN = 'dry-run';

/** Maximum number of tags that are listed by name. */
const MAX_NAMED = 5;

export const prune: OwnCommand = {
  options: [
    switching(UNUSED, 'Required to delete, as a reminder that only unused tags are deleted.'),
    taking(MATCHING, 'NAME', 'Only unused tags with this name; * is a wildcard.', { takes: 'values' }),
    switching(DRY_RUN, 'Only print the tags that would be deleted.'),
  ],
  details:
    'Unused tags are determined before the confirmation prompt and checked again before deletion, so a tag that was added to a workspace in between is kept. A tag that only keys have counts as used.',
  examples: [
    ['coffer tags prune --dry-run --org acme', 'Print the unused tags, without deleting them'],
    [
      "coffer tags prune --unused --matching 'tmp:*' --yes --org acme",
      'Delete unused tags that begin with "tmp:", without asking',
    ],
  ],
  async run(session, { options }) {
    const isDry = options.has(DRY_RUN);
    if (!isDry && !options.has(UNUSED)) {
      throw invalid(`missing required option --${UNUSED}`, {
        hint: 'add --unused to confirm that only unused tags are deleted, or --dry-run to print them',
      });
    }
    if (!isDry) session.requireConsent();
    const organization_name = organizationOf(session);
    const runner = await session.runner();
    const { document, isWhole } = await everyPage<TagResource>(session, runner, {
      operation: 'tags list',
      raw: { organization_name, [UNUSED_ONLY]: true },
    });
    const patterns = textsOption(options, MATCHING);
    const fits = anyOf(patterns);
    const unused = document.data.filter(
      ({ attributes }) =>
        attributes['instance-count'] === 0 && (patterns.length === 0 || fits(attributes.name)),
    );
    const names = unused.map(({ attributes }) => attributes.name);
    const deleted: string[] = [];
    if (!isDry && names.length > 0) {
      if (!(await session.confirmed(async () => question(names)))) return FAILED;
      const onDeleted = (gone: readonly string[]) => deleted.push(...gone);
      await carryOut(session, 'tags', deletingUnused(runner, organization_name, unused, onDeleted));
    }
    const shown = isDry ? names : deleted;
    if (isDry || session.settings.format !== undefined) {
      await printResult(session, { tags: shown, done: !isDry }, { result: { member: 'tags', as: 'lines' } });
    }
    const left = names.length - deleted.length;
    const rest = left === 0 ? '' : ` ${counted(left, 'tag')} skipped, now in use.`;
    if (!isDry) session.say(`Deleted ${counted(deleted.length, 'tag')}.${rest}`);
    else if (names.length === 0)
      session.say(patterns.length === 0 ? 'No unused tags.' : 'No unused tags match.');
    return isWhole ? DONE : FAILED;
  },
};

function question(names: readonly string[]): string {
  const [first = '', ...others] = names;
  if (others.length === 0) return `Delete the unused tag ${first}? ${copiedFirst()}`;
  const shown = names.slice(0, MAX_NAMED).join(', ');
  const rest = names.length > MAX_NAMED ? ` and ${names.length - MAX_NAMED} more` : '';
  return `Delete ${names.length} unused tags (${shown}${rest})? ${copiedFirst()}`;
}
