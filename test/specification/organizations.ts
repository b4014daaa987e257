import { type Reply, send } from '../servers/serving.ts';
import type { Params } from './row.ts';
import { CommandSide, HttpSide, type Side } from './sides.ts';

/** Organizations with workspaces are not part of the specification: they are made in each side's own way. */

let count = 0;

export interface Org {
  readonly organization_name: string;
  /** Identifiers. */
  readonly workspaces: readonly string[];
}

export async function organization(side: Side, workspaces = 2): Promise<Org> {
  const organization_name = `org-${++count}`;
  const names = Array.from({ length: workspaces }, (_, index) => `ws-${index + 1}`);
  if (side instanceof CommandSide) {
    await side.place.ok(`orgs create ${organization_name}`);
    const ids: string[] = [];
    for (const name of names) {
      const made = await side.place.json(`workspaces create ${name} --org ${organization_name}`);
      ids.push((made as { data: { id: string } }).data.id);
    }
    return { organization_name, workspaces: ids };
  }
  const attributes = { name: organization_name, email: 'ops@example.com' };
  await document(side, 'POST', 'organizations', { type: 'organizations', attributes });
  const ids: string[] = [];
  for (const name of names) {
    const path = `organizations/${organization_name}/workspaces`;
    const { json } = await document(side, 'POST', path, { type: 'workspaces', attributes: { name } });
    ids.push((json as { data: { id: string } }).data.id);
  }
  return { organization_name, workspaces: ids };
}

/** A request of JSON:API as it is. */
export function document(
  side: Side,
  method: string,
  path: string,
  data?: unknown,
  headers: Params = {},
): Promise<Reply> {
  if (!(side instanceof HttpSide)) throw new Error('only requests carry documents');
  const { address, token } = side.server;
  const usual = { authorization: `Bearer ${token}`, 'content-type': 'application/vnd.api+json' };
  return send(address, method, `/api/v2/${path}`, {
    headers: { ...usual, ...headers } as Record<string, string>,
    body: data === undefined ? undefined : { data },
  });
}
