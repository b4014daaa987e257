import { notFound } from '../../../ground/errors.ts';
import { ownWords } from '../../../ground/own-words.ts';
import { type Operation, operation } from '../../../operations/declaration/operation.ts';
import { text } from '../../../operations/declaration/params.ts';
import { pathParams, printPath } from '../../../operations/declaration/route.ts';
import type { PathOffer } from '../../../operations/pipeline/endpoints.ts';
import type { ServedRoute } from '../../../operations/routes.ts';

/**
 * Operation that answers `?help=1` on a path: lists the path's operations, from the declarations. It never runs any of
 * them.
 */
export const pathHelp = (offerAt: (path: string) => PathOffer): Operation =>
  operation({
    route: 'GET /sys/help/:path+',
    capability: 'read',
    anyToken: true,
    bare: true,
    params: { path: text({ help: 'API path.', required: true }) },
    async run(_, { path }) {
      const { routes, isMount } = offerAt(path);
      if (routes.length === 0) throw notFound(ownWords('no help for this path'), { field: 'path' });
      const help = isMount ? routes.map(headOf).join('') : routes.map(helpOn).join('\n');
      return { data: { help, see_also: [], openapi: null } };
    },
  });

function headOf({ summary, route }: ServedRoute): string {
  const path = printPath(
    route,
    (name) => `{${name}}`,
    (segment) => segment,
  );
  return `${route.method} ${path}\n    ${summary}.\n`;
}

function helpOn(served: ServedRoute): string {
  const { operation, route } = served;
  const inPath = new Set(pathParams(route));
  const lines = Object.entries(operation.params).map(([name, { help, schema }]) => {
    const kind = inPath.has(name) ? 'path' : (schema.type ?? 'any');
    return `    ${name} (${kind})\n        ${help}\n`;
  });
  return `${headOf(served)}${lines.length === 0 ? '' : `\n${lines.join('')}`}`;
}
