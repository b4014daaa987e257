import type { Table } from '../declaration/operation.ts';
import type { ListDocument } from '../json-api/pages.ts';
import { shortTime, type TagResource } from './documents.ts';
import { pageSummary } from './wording.ts';

export interface Tags {
  readonly data: readonly TagResource[];
}

/** Tags as people read them. */
export const tagTable = ({ data }: Tags): Table => ({
  head: ['Name', 'Instances', 'Created', 'Id'],
  rows: data.map(({ id, attributes }) => [
    attributes.name,
    String(attributes['instance-count']),
    shortTime(attributes['created-at']),
    id,
  ]),
});

/** One page of them, and which page it is. */
export const tagPageTable = (document: ListDocument<TagResource>): Table => ({
  ...tagTable(document),
  summary: pageSummary(document, 'tag'),
});

export const tagLines = ({ data }: Tags): readonly string[] => data.map(({ attributes }) => attributes.name);
