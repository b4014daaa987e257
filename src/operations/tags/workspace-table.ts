import type { Table } from '../declaration/operation.ts';
import type { ListDocument } from '../json-api/pages.ts';
import { shortTime, type WorkspaceResource } from './documents.ts';
import { pageSummary } from './wording.ts';

export interface Workspaces {
  readonly data: readonly WorkspaceResource[];
}

/** Workspaces as people read them. */
export const workspaceTable = ({ data }: Workspaces): Table => ({
  head: ['Name', 'Tags', 'Created', 'Id'],
  rows: data.map(({ id, attributes }) => [
    attributes.name,
    attributes['tag-names'].join(' '),
    shortTime(attributes['created-at']),
    id,
  ]),
});

/** One page of them, and which page it is. */
export const workspacePageTable = (document: ListDocument<WorkspaceResource>): Table => ({
  ...workspaceTable(document),
  summary: pageSummary(document, 'workspace'),
});

export const workspaceLines = ({ data }: Workspaces): readonly string[] =>
  data.map(({ attributes }) => attributes.name);
