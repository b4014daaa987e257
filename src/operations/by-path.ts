import { notFound, unsupported } from '../ground/errors.ts';
import type { Mount } from '../mounts/mount.ts';
import { catalogue } from './catalogue.ts';
import type { Core, PathRequest } from './declaration/operation.ts';
import { VaultEndpoints } from './pipeline/endpoints.ts';
import { StoreLook } from './pipeline/store-look.ts';
import { loadRoutes, type Match } from './routes.ts';

interface MatchedRoute {
  readonly match: Exclude<Match, string>;
  /** Mount of the path. */
  readonly mount: Mount | undefined;
}

/**
 * Finds the operation of a Vault API path in an open store.
 * @throws `not-found` for an unknown path; `unsupported` for one that only has other methods
 */
export async function findByPath(core: Core, { method, path }: PathRequest): Promise<MatchedRoute> {
  const routes = await loadRoutes(catalogue);
  const endpoints = new VaultEndpoints(routes);
  // Nothing of the server needs the table of mounts, which may be what is damaged.
  const isBelowMount = endpoints.ofServer(method, path) === 'unsupported-path';
  const mounts = isBelowMount ? await core.mounts.list() : [];
  const { match, mount } = endpoints.at(new StoreLook(await core.store.revision(), mounts), method, path);
  if (match === 'unsupported-operation') {
    throw unsupported(`${path} does not support this method`, { hint: 'try read, write, list or delete' });
  }
  if (match === 'unsupported-path') {
    throw notFound(`nothing found at ${path}`, { hint: 'list the mounts with "coffer mounts list"' });
  }
  return { match, mount };
}
