import { asCofferError } from '../../ground/errors.ts';
import type { Table } from '../../operations/declaration/table.ts';
import {
  counted,
  type ResourceDocument,
  type TagResource,
  tagListing,
  type WorkspaceResource,
} from '../../operations/tags/documents.ts';
import { tagsOf } from '../../operations/tags/relationships.ts';
import { show } from '../../operations/tags/tags.ts';
import { tags as tagsOfKey } from '../../operations/transit/key-tags.ts';
import { type Command, switching } from '../command.ts';
import { everyPage } from '../every-page.ts';
import { DONE, FAILED } from '../exit-codes.ts';
import { rawValues, resolved } from '../files/operation-values.ts';
import { outPlaceOf } from '../files/out-file.ts';
import { formatFor, printResult } from '../files/output.ts';
import { commandOf } from '../operation-command.ts';
import { specOf } from '../parse/operation-spec.ts';

/** Tag, and the workspaces that use it. */
interface Shown extends ResourceDocument<TagResource> {
  readonly included: readonly WorkspaceResource[];
}

const showing = commandOf(['tags', 'show'], 'Show a tag and the workspaces that have it', show);

/** Maximum number of names in the table, a few lines; `-o json` has all. */
const MOST_NAMED = 40;

const table = ({ data, included }: Shown): Table => ({
  ...tagListing.one.table({ data }),
  summary: `${usedOn(included.map(({ attributes }) => attributes.name))}`,
});

function usedOn(names: readonly string[]): string {
  if (names.length === 0)
    return 'Not used by any workspace. Keys may have it: see "coffer transit keys list --tag TAG".';
  const rest = names.length > MOST_NAMED ? ` and ${names.length - MOST_NAMED} more` : '';
  return `On ${counted(names.length, 'workspace')}: ${names.slice(0, MOST_NAMED).join(', ')}${rest}`;
}

export const showTag: Command = {
  ...showing,
  examples: [
    ['coffer tags show env:prod --org acme', 'Show a tag and the workspaces that use it'],
    [
      "coffer tags show env:prod --org acme -o json | jq -r '.included[].attributes.name'",
      'Print only the workspace names',
    ],
  ],
  async run(session, given) {
    const spec = specOf(show);
    const typed = rawValues(session, show, spec, given);
    const place = await outPlaceOf(session, given.options);
    const runner = await session.runner();
    const raw = await resolved(show, typed, runner);
    const { data } = (await runner.run(show, raw)).data as ResourceDocument<TagResource>;
    const shape = { table, lines: () => [data.attributes.name] };
    const destination = { file: place, keepBase64: true };
    const isForProgram = formatFor(session, shape, destination) === 'raw';
    const { document, isWhole } = isForProgram
      ? { document: { data: [] }, isWhole: true }
      : await everyPage<WorkspaceResource>(session, runner, {
          operation: 'workspaces list',
          raw: {
            organization_name: data.relationships.organization.data.id,
            'search[tags]': data.attributes.name,
          },
        });
    // The search also finds workspaces with a key of that name.
    const carries = ({ attributes }: WorkspaceResource): boolean =>
      attributes['tag-names'].includes(data.attributes.name);
    const shown: Shown = { data, included: document.data.filter(carries) };
    await printResult(session, shown, { ...shape, table: () => table(shown) }, destination);
    return isWhole ? DONE : FAILED;
  },
};

const KEY = 'key';

const ofWorkspace = commandOf(['tags', 'of'], 'List the tags of a workspace or transit key', tagsOf);
const ofKey = commandOf(['transit', 'keys', 'tags'], 'List the tags of a key', tagsOfKey);

/** Command that lists the tags of a workspace; if there is none of that name, those of the key of that name. */
export const listTags: Command = {
  ...ofWorkspace,
  arguments: ofWorkspace.arguments.map((argument) =>
    argument.metavar === 'WS'
      ? { ...argument, help: 'Name or ID of the workspace, or name of the transit key.' }
      : argument,
  ),
  options: [
    ...ofWorkspace.options,
    switching(KEY, 'Take WS as the name of a transit key, even if a workspace has the same name.'),
  ],
  examples: [
    ...ofWorkspace.examples,
    ['coffer tags of orders --key', 'List the tags of a transit key, like "coffer transit keys tags orders"'],
  ],
  async run(session, given) {
    const [name = ''] = given.arguments;
    const asKey = { arguments: [name], options: given.options };
    if (given.options.has(KEY)) return ofKey.run(session, asKey);
    try {
      return await ofWorkspace.run(session, given);
    } catch (error) {
      const known = asCofferError(error);
      if (known?.kind !== 'not-found' && known?.field !== '--org') throw error;
      const isKey = (await session.runner()).run('transit keys read', { name }).then(
        () => true,
        () => false,
      );
      if (!(await isKey)) throw error;
      return ofKey.run(session, asKey);
    }
  },
};
