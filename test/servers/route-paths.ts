import { catalogue } from '../../src/operations/catalogue.ts';
import { usualPath } from '../../src/operations/mount-types.ts';
import { loadRoutes } from '../../src/operations/routes.ts';

/** The paths of every operation, each below its API's prefix. */
export const routePaths = (await loadRoutes(catalogue)).map(({ operation, route }) => {
  const below = route.mount === undefined ? '/v1/' : `/v1/${usualPath(route.mount)}/`;
  const prefix = operation.api === 'json-api' ? '/api/v2/' : below;
  const parts = route.parts.map((part) => ('text' in part ? part.text : part.optional ? '' : 'x'));
  return { method: route.method, path: prefix + parts.join(''), operation };
});

/** Other ways to write a path that mean, or might be taken to mean, the same. */
export const spellings = (path: string): readonly string[] => {
  const [, api = '', ...rest] = path.split('/');
  const below = rest.join('/');
  return [
    path,
    `/${api}/${rest.join('%2F')}`,
    `/${api}/${rest.join('%2f')}`,
    `/${api}/%${below.charCodeAt(0).toString(16)}${below.slice(1)}`,
    `/${api}//${below}`,
    `${path}/`,
    `${path}?x=y`,
  ];
};
