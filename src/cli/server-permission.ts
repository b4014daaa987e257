import { denied } from '../ground/errors.ts';
import { isObject } from '../ground/objects.ts';
import type { Operation, Runner } from '../operations/declaration/operation.ts';
import {
  CAPABILITY_OF,
  type Method,
  pathParams,
  printPath,
  routesOf,
} from '../operations/declaration/route.ts';
import { loadOperation } from '../operations/runner.ts';

/** Prefix of JSON:API paths in policies. */
const DOCUMENT_PREFIX = 'api/v2/';

/**
 * Returns a runner for requests that a command sends to a server by itself, before or after what the user asked for.
 * Requests that the token's policies do not allow are refused here: a denied request would be recorded in the server's
 * audit log like an attempted attack.
 * @param mount default mount of the runner
 */
export const askingPermission = (runner: Runner, mount: string): Runner => ({
  ...runner,
  async run(named, raw, at = mount) {
    const operation = typeof named === 'string' ? await loadOperation(named) : named;
    const target = policyTarget(operation, raw, at);
    if (target === undefined || !(await isAllowed(runner, target))) throw denied('permission denied');
    return runner.run(operation, raw, at);
  },
});

interface PolicyTarget {
  readonly path: string;
  readonly method: Method;
}

/** Returns the path that policies are asked about, by the first route whose parameters are given. */
function policyTarget(
  operation: Operation,
  raw: Readonly<Record<string, unknown>>,
  mount: string,
): PolicyTarget | undefined {
  const route = routesOf(operation).find((candidate) =>
    pathParams(candidate).every((name) => raw[name] !== undefined),
  );
  if (route === undefined) return undefined;
  const below = printPath(
    route,
    (name) => String(raw[name]),
    (segment) => segment,
  );
  const prefix = operation.api === 'json-api' ? DOCUMENT_PREFIX : '';
  return { method: route.method, path: route.mount === undefined ? prefix + below : `${mount}/${below}` };
}

/** Asks the server. False if it does not tell, for instance because the token lacks the policy "default". */
async function isAllowed(runner: Runner, { path, method }: PolicyTarget): Promise<boolean> {
  const answer = await runner.run('sys capabilities-self', { paths: [path] }).catch(() => undefined);
  const granted = isObject(answer?.data) ? answer.data['capabilities'] : undefined;
  return Array.isArray(granted) && (granted.includes('root') || granted.includes(CAPABILITY_OF[method]));
}
