import { workspaceNotFound } from '../../tags/organization.ts';
import type { Workspace } from '../../tags/workspaces.ts';
import { done } from '../declaration/operation.ts';
import { identifiers } from '../json-api/linkage.ts';
import { pageParams, workspaceId } from '../json-api/params.ts';
import { pageDocument, type TagsCall, tagOperation, workspaceResource } from './documents.ts';
import { mayListWorkspaces, mayReadWorkspace } from './sights.ts';

/**
 * Workspaces that may read the state of another one: stored and returned for clients that compare it; nothing here acts
 * on it.
 */

const pathOf = (id: string): string =>
  `workspaces/${encodeURIComponent(id)}/relationships/remote-state-consumers`;
const PATH = '/workspaces/:workspace_id/relationships/remote-state-consumers';

export const list = tagOperation({
  route: `GET ${PATH}`,
  capability: 'list',
  params: { workspace_id: workspaceId, ...pageParams },
  async run(call, { workspace_id, 'page[number]': number, 'page[size]': size }) {
    const { tags } = call;
    const organization = (await tags.organizationOf(workspace_id)) ?? '';
    const sees = mayListWorkspaces(call, organization)
      ? undefined
      : (workspace: { readonly id: string; readonly name: string }) =>
          mayReadWorkspace(call, { organization, ...workspace });
    const page = await tags.stateConsumers.list({ id: workspace_id }, { number, size }, sees);
    const print = (item: Workspace) => workspaceResource(call, item);
    return { data: pageDocument(call, page, { print, path: pathOf(workspace_id) }) };
  },
});

/**
 * Declares a change of the consumers.
 * @param help help of the list of workspaces
 */
const change = (method: 'POST' | 'PATCH' | 'DELETE', help: string, act: 'add' | 'replace' | 'remove') =>
  tagOperation({
    route: `${method} ${PATH}`,
    capability: 'update',
    params: { workspace_id: workspaceId, data: identifiers('workspace', { help }) },
    run: done(async (call, { workspace_id, data }) => {
      await checkMayRead(call, workspace_id, data);
      await call.tags.stateConsumers[act]({ id: workspace_id }, data);
    }),
  });

export const add = change('POST', 'Workspaces to add. Stored for clients; has no effect in Coffer.', 'add');
export const replace = change(
  'PATCH',
  'Workspaces to set, instead of all others. Stored for clients; has no effect in Coffer.',
  'replace',
);
export const remove = change('DELETE', 'Workspaces to remove.', 'remove');

/** Others are not there for the caller. @throws `not-found` */
async function checkMayRead(call: TagsCall, workspaceId: string, ids: readonly string[]): Promise<void> {
  const organization = (await call.tags.organizationOf(workspaceId)) ?? '';
  if (mayListWorkspaces(call, organization)) return;
  const hidden = ids.find((id) => !mayReadWorkspace(call, { organization, id, name: id }));
  if (hidden !== undefined) throw workspaceNotFound(hidden);
}
