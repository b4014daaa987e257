import { invalid } from '../../ground/errors.ts';
import { copiedFirst, counted, type TagResource } from '../../operations/tags/documents.ts';
import { UNUSED_ONLY } from '../../operations/tags/tags.ts';
import { anyOf } from '../../tags/names.ts';
import type { OwnCommand } from '../command.ts';
import { everyPage } from '../every-page.ts';
import { DONE, FAILED } from '../exit-codes.ts';
import { printResult } from '../files/output.ts';
import { textsOption } from '../given.ts';
import { switching } from '../parse/everywhere.ts';
import { carryOut } from '../tags/in-calls.ts';
import { organizationOf } from '../tags/surroundings.ts';
import { deletingUnused } from '../tags/unused.ts';

const UNUSED = 'unused';
const MATCHING = 'matching';
const DRY_RUN = 'dry-run';

/** Maximum number of tags that are listed by name. */
const MAX_NAMED = 5;

export const command: OwnCommand = {
  options: [
    switching(UNUSED, 'Required, as a reminder that only unused tags are deleted.'),
    {
      flag: MATCHING,
      takes: 'values',
      metavar: 'NAME',
      help: 'Only unused tags with this name; * is a wildcard.',
    },
    switching(DRY_RUN, 'Only print the tags that would be deleted.'),
  ],
  details:
    'Unused tags are determined before the confirmation prompt and checked again before deletion, so a tag that was added to a workspace in between is kept. A tag that only keys have counts as used.',
  examples: [
    ['coffer tags prune --unused --dry-run --org acme', 'Print the unused tags, without deleting them'],
    [
      "coffer tags prune --unused --matching 'tmp:*' --yes --org acme",
      'Delete unused tags that begin with "tmp:", without asking',
    ],
  ],
  async run(session, { options }) {
    if (!options.has(UNUSED)) {
      throw invalid(`missing required option --${UNUSED}`, {
        hint: 'add --unused to confirm that only unused tags are deleted',
      });
    }
    const isDry = options.has(DRY_RUN);
    if (!isDry) session.requireConsent();
    const organization_name = organizationOf(session);
    const runner = await session.runner();
    const { document, isWhole } = await everyPage<TagResource>(session, runner, {
      operation: 'tags list',
      raw: {
        organization_name,
        [UNUSED_ONLY]: true,
      },
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
