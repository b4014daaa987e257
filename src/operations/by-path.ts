import { notFound, unsupported } from '../ground/errors.ts';
import type { Mount } from '../mounts/mount.ts';
import { catalogue } from './catalogue.ts';
import type { Core, PathRequest } from './declaration/operation.ts';
import { loadRoutes, type Match, mountedRoutes, RouteTable, routesUnder } from './routes.ts';

interface Found {
  readonly match: Exclude<Match, string>;
  /** Mount of the path. */
  readonly mount: Mount | undefined;
}

/**
 * Finds the operation of a Vault API path in an open store.
 * @throws `not-found` for an unknown path; `unsupported` for one that only has other methods
 */
export async function findByPath(core: Core, { method, path }: PathRequest): Promise<Found> {
  const routes = await loadRoutes(catalogue);
  const ofServer = new RouteTable(routesUnder(routes, 'vault')).match(method, path);
  const mount =
    ofServer === 'unsupported-path'
      ? (await core.mounts.list()).find((candidate) => path.startsWith(`${candidate.path}/`))
      : undefined;
  const table = mount && mountedRoutes(routes, 'vault').get(mount.type);
  const match = table?.match(method, path.slice((mount?.path.length ?? 0) + 1)) ?? ofServer;
  if (match === 'unsupported-operation') {
    throw unsupported(`${path} can't be used like this`, { hint: 'try read, write, list or delete' });
  }
  if (match === 'unsupported-path') {
    throw notFound(`there is nothing at ${path}`, { hint: 'list the mounts with "coffer mounts list"' });
  }
  return { match, mount };
}
