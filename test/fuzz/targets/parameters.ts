import { catalogue } from '../../../src/operations/catalogue.ts';
import { parseValues } from '../../../src/operations/declaration/params.ts';
import { errorSource, printDocument, readDocument } from '../../../src/operations/json-api/request.ts';
import { loadRoutes, type ServedRoute } from '../../../src/operations/routes.ts';
import type { Chance } from '../../chance.ts';
import { rawValues } from '../request-values.ts';
import type { Secrets } from '../secrets.ts';
import { type Content, SECRET_TEXT } from '../served-world.ts';
import { Defect, target, type World } from '../target.ts';
import { anyValue, printValue, spoiledDeeply } from '../values.ts';

/** What is given to an operation: raw values, or the body of a JSON:API request. */
interface Given {
  /** Place of the operation among all. */
  readonly operation: number;
  readonly raw: Readonly<Record<string, unknown>>;
  readonly body: unknown;
}

const content: Content = {
  keys: ['orders', 'derived'],
  ciphertexts: { orders: 'service:v1:AAAA' },
  workspaces: ['ws-2PZ5RK9dGNuPzqgL'],
  tags: ['tag-2PZ5RK9dGNuPzqgL'],
  tokens: {
    root: 'cfr.AAAAAAAAAAAAAAAAAAAAAAAA',
    reader: 'cfr.BBBBBBBBBBBBBBBBBBBBBBBB',
    accessor: 'C'.repeat(40),
  },
};

async function open(_chance: Chance, secrets: Secrets): Promise<World<Given>> {
  const routes = await loadRoutes(catalogue);
  secrets.add('a plaintext', SECRET_TEXT);
  secrets.add('a token', content.tokens.root);
  return {
    generate: (chance) => generate(chance, routes),
    check: (given) => check(given, routes, secrets),
    print: (given) => `${routes[given.operation]?.name} ${printValue(given)}`,
    close() {
      const polluted = Object.keys(Object.prototype);
      if (polluted.length > 0)
        throw new Defect(`the prototype of all objects has got ${polluted.join(', ')}`);
    },
  };
}

function generate(chance: Chance, routes: readonly ServedRoute[]): Given {
  const operation = chance.below(routes.length);
  const params = routes[operation]?.operation.params ?? {};
  const raw = rawValues(chance, content, params);
  const members = (place: string) => Object.entries(raw).filter(([name]) => params[name]?.document === place);
  const data = members('data')[0]?.[1] ?? {
    type: routes[operation]?.operation.resource,
    attributes: Object.fromEntries(members('attributes')),
    relationships: Object.fromEntries(
      members('relationships').map(([name, linkage]) => [name, { data: linkage }]),
    ),
  };
  const body = chance.oneIn(20) ? anyValue(chance) : spoiledDeeply(chance, { data });
  // As it comes out of a body: own members only, whatever their names.
  return { operation, raw: JSON.parse(printValue(raw)), body: JSON.parse(printValue(body)) };
}

function check(
  { operation: index, raw, body }: Given,
  routes: readonly ServedRoute[],
  secrets: Secrets,
): void {
  const operation = routes[index]?.operation;
  if (operation === undefined) return;
  const parsed = secrets.outcomeNow(() => parseValues(operation.params, raw));
  if ('value' in parsed) requireDeclared(parsed.value.values, Object.keys(operation.params));
  if (operation.api !== 'json-api') return;
  const document = secrets.outcomeNow(() =>
    parseValues(operation.params, { ...raw, ...readDocument(operation, body) }),
  );
  if ('refused' in document && document.refused.field !== undefined)
    errorSource(operation, document.refused.field);
  if ('value' in document) secrets.outcomeNow(() => printDocument(operation, document.value.values));
}

/** A handler gets what its declaration names and nothing else, as members of its own. */
function requireDeclared(values: object, names: readonly string[]): void {
  const foreign = Object.keys(values).filter((name) => !names.includes(name));
  if (foreign.length > 0) throw new Defect(`a handler gets ${foreign.join(', ')}`);
  if (Object.getPrototypeOf(values) !== Object.prototype) throw new Defect('values have a strange prototype');
}

export const parameters = target<Given>({ name: 'parameters', cases: 60_000, open });
