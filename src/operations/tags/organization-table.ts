import type { Table } from '../declaration/operation.ts';
import { type OrganizationResource, shortTime } from './documents.ts';

export interface Organizations {
  readonly data: readonly OrganizationResource[];
}

/** Organizations as people read them. */
export const organizationTable = ({ data }: Organizations): Table => ({
  head: ['Name', 'Email', 'Created', 'Id'],
  rows: data.map(({ attributes }) => [
    attributes.name,
    attributes.email ?? '',
    shortTime(attributes['created-at']),
    attributes['external-id'],
  ]),
});

export const organizationLines = ({ data }: Organizations): readonly string[] => data.map(({ id }) => id);
