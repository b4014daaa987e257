import type { Table } from '../../operations/declaration/table.ts';
import {
  counted,
  type ResourceDocument,
  type TagResource,
  tagListing,
  type WorkspaceResource,
} from '../../operations/tags/documents.ts';
import { show } from '../../operations/tags/tags.ts';
import type { Command } from '../command.ts';
import { everyPage } from '../every-page.ts';
import { DONE, FAILED } from '../exit-codes.ts';
import { rawValues } from '../files/operation-values.ts';
import { outPlaceOf } from '../files/out-file.ts';
import { formatFor, printResult } from '../files/output.ts';
import { commandOf } from '../operation-command.ts';
import { specOf } from '../parse/operation-spec.ts';

/** Tag, and the workspaces that use it. */
interface Shown extends ResourceDocument<TagResource> {
  readonly included: readonly WorkspaceResource[];
}

const plain = commandOf(['tags', 'show'], 'Show a tag and where it is used', show);

/** Maximum number of names in the table, a few lines; `-o json` has all. */
const MOST_NAMED = 40;

const table = ({ data, included }: Shown): Table => ({
  ...tagListing.one.table({ data }),
  summary: `${usedOn(included.map(({ attributes }) => attributes.name))}`,
});

function usedOn(names: readonly string[]): string {
  if (names.length === 0) return 'Not used by any workspace.';
  const rest = names.length > MOST_NAMED ? ` and ${names.length - MOST_NAMED} more` : '';
  return `On ${counted(names.length, 'workspace')}: ${names.slice(0, MOST_NAMED).join(', ')}${rest}`;
}

export const command: Command = {
  ...plain,
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
    const raw = (await show.cli?.resolve?.(typed, runner)) ?? typed;
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
