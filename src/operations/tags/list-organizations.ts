import { foldCase } from '../../tags/names.ts';
import type { Organization } from '../../tags/organization.ts';
import { pageFrom } from '../../tags/page.ts';
import { operation } from '../declaration/operation.ts';
import { text } from '../declaration/params.ts';
import { DEFAULT_PAGE_SIZE, optionalPageParams } from '../json-api/params.ts';
import { organizationResource, pageDocument } from './documents.ts';
import { organizationLines, organizationTable } from './organization-table.ts';

export const declaration = operation({
  api: 'json-api',
  route: 'GET /organizations',
  capability: 'list',
  params: {
    q: text({
      help: 'Only organizations whose name or e-mail address contains this text, whatever its case.',
      cli: { positional: true, metavar: 'QUERY' },
    }),
    'q[name]': text({ help: 'The same, for the name alone.', cli: { hidden: true } }),
    'q[email]': text({ help: 'The same, for the e-mail address alone.', cli: { hidden: true } }),
    ...optionalPageParams,
  },
  cli: {
    table: organizationTable,
    lines: organizationLines,
  },
  async run(call, values) {
    const { organizations } = await call.core.tags();
    const { q, 'q[name]': inName, 'q[email]': inEmail } = values;
    const found = (await organizations.list())
      .filter(({ name }) => call.caller.reaches(`organizations/${name}`))
      .filter(({ name, email }) => contains(name, q) || contains(email, q))
      .filter(({ name }) => contains(name, inName))
      .filter(({ email }) => contains(email, inEmail));
    const print = (organization: Organization) => organizationResource(call, organization);
    const { 'page[number]': number, 'page[size]': size } = values;
    // The only list of this API that is whole, and says nothing of pages, unless one is asked for.
    if (number === undefined && size === undefined) return { data: { data: found.map(print) } };
    const page = pageFrom(found, { number: number ?? 1, size: size ?? DEFAULT_PAGE_SIZE });
    const query = { q, 'q[name]': inName, 'q[email]': inEmail };
    return { data: pageDocument(call, page, print, 'organizations', query) };
  },
});

const contains = (value: string | null, part: string | undefined): boolean =>
  !part || foldCase(value ?? '').includes(foldCase(part));
