import { operation } from '../declaration/operation.ts';
import { text, texts } from '../declaration/params.ts';
import { organizationName, pageParams } from '../json-api/params.ts';
import { pageDocument, workspaceResource } from './documents.ts';
import { workspaceLines, workspacePageTable } from './workspace-table.ts';

export const declaration = operation({
  api: 'json-api',
  route: 'GET /organizations/:organization_name/workspaces',
  capability: 'list',
  params: {
    organization_name: organizationName,
    'search[name]': text({
      help: 'Only workspaces whose name contains this text, whatever its case.',
      cli: { positional: true, metavar: 'QUERY' },
    }),
    'search[tags]': texts({
      help: 'Only workspaces that carry all of these tags.',
      cli: { flag: 'tag', metavar: 'NAME', refersTo: 'tag' },
    }),
    'search[exclude-tags]': texts({
      help: 'Only workspaces that carry none of these tags.',
      cli: { flag: 'exclude-tag', metavar: 'NAME', refersTo: 'tag' },
    }),
    'search[wildcard-name]': text({
      help: 'Only names that match as a whole, with * at either end for anything.',
      cli: { flag: 'wildcard', metavar: 'PATTERN' },
    }),
    sort: text({
      help: 'The order: name, or -name for the reverse; any other word counts as name.',
      cli: { metavar: 'ORDER', suggest: () => ['name', '-name'] },
    }),
    ...pageParams,
  },
  cli: {
    paged: true,
    table: workspacePageTable,
    lines: workspaceLines,
    examples: [
      ['coffer workspaces list --org acme', 'the first 20'],
      ['coffer workspaces list --tag env:prod --exclude-tag team:core --all --org acme', 'by their tags'],
    ],
  },
  async run(call, values) {
    const { workspaces } = await call.core.tags();
    const { organization_name, 'page[number]': number, 'page[size]': size } = values;
    const tags = named(values['search[tags]']);
    const excludeTags = named(values['search[exclude-tags]']);
    const page = await workspaces.list(organization_name, {
      search: values['search[name]'] ?? '',
      wildcard: values['search[wildcard-name]'] ?? '',
      tags,
      excludeTags,
      descending: values.sort === '-name',
      page: { number, size },
    });
    const path = `organizations/${encodeURIComponent(organization_name)}/workspaces`;
    const query = {
      'search[name]': values['search[name]'],
      'search[tags]': tags.join(',') || undefined,
      'search[exclude-tags]': excludeTags.join(',') || undefined,
      'search[wildcard-name]': values['search[wildcard-name]'],
      sort: values.sort,
    };
    return { data: pageDocument(call, page, (item) => workspaceResource(call, item), path, query) };
  },
});

/** A list such as `a,,b` or `,` names no tag in its empty places. */
const named = (names: readonly string[] | undefined): readonly string[] =>
  (names ?? []).filter((name) => name !== '');
