import { notFound } from '../../../ground/errors.ts';
import { type Operation, operation } from '../../../operations/declaration/operation.ts';
import { text } from '../../../operations/declaration/params.ts';
import { pathParams, printPath } from '../../../operations/declaration/route.ts';
import type { ServedRoute } from '../../../operations/routes.ts';

/** What `?help=1` on a path answers: what can be done there, from the declarations. It never does any of it. */
export const pathHelp = (routesAt: (path: string) => readonly ServedRoute[]): Operation =>
  operation({
    route: 'GET /sys/help/:path+',
    capability: 'read',
    anyToken: true,
    bare: true,
    params: { path: text({ help: 'A path of the API.', required: true }) },
    async run(_, { path }) {
      const routes = routesAt(path);
      if (routes.length === 0) throw notFound('there is no help on this path', { field: 'path' });
      return { data: { help: routes.map(helpOn).join('\n'), see_also: [], openapi: null } };
    },
  });

function helpOn({ summary, operation: { params }, route }: ServedRoute): string {
  const inPath = new Set(pathParams(route));
  const path = printPath(
    route,
    (name) => `{${name}}`,
    (segment) => segment,
  );
  const lines = Object.entries(params).map(([name, { help, schema }]) => {
    const kind = inPath.has(name) ? 'path' : (schema.type ?? 'any');
    return `    ${name} (${kind})\n        ${help}\n`;
  });
  return `${route.method} ${path}\n    ${summary}.\n${lines.length === 0 ? '' : `\n${lines.join('')}`}`;
}
