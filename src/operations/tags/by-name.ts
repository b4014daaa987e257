import { CofferError, invalid } from '../../ground/errors.ts';
import { type IdentifierKind, parseIdentifier } from '../../tags/identifiers.ts';
import type { Runner } from '../declaration/operation.ts';
import { isObject } from '../declaration/weak-values.ts';

type Raw = Readonly<Record<string, unknown>>;
type Resolve = (raw: Raw, runner: Runner) => Promise<Raw>;

/** An identifier of the other kind is one too: as such it is not found, or leaves out nothing, as over HTTP. */
const isIdentifier = (text: unknown): boolean =>
  typeof text === 'string' && (parseIdentifier('tag', text) ?? parseIdentifier('ws', text)) !== undefined;

function organizationOf(runner: Runner, name: unknown): string {
  if (runner.organization !== undefined) return runner.organization;
  throw invalid(`which organization has "${String(name)}"?`, {
    field: '--org',
    hint: 'give --org NAME or set COFFER_ORG, or give an identifier in place of the name',
  });
}

/** Puts a name into the parameters that go with it in a path, where the command line took an identifier or a name. */
export const nameBesideId =
  (idParam: string, nameParam: string): Resolve =>
  async (raw, runner) => {
    const { [idParam]: given, ...others } = raw;
    if (given === undefined || isIdentifier(given)) return raw;
    return { ...others, [nameParam]: given, organization_name: organizationOf(runner, given) };
  };

/** Looks up the identifiers of workspaces and tags that the command line took by name. */
export const idsFor =
  (params: Readonly<Record<string, IdentifierKind>>): Resolve =>
  async (raw, runner) => {
    const resolved: Record<string, unknown> = { ...raw };
    for (const [name, kind] of Object.entries(params)) {
      const given = raw[name];
      if (Array.isArray(given)) {
        resolved[name] = await Promise.all(given.map((item: unknown) => idFor(kind, item, runner)));
      } else if (given !== undefined) resolved[name] = await idFor(kind, given, runner);
    }
    return resolved;
  };

const SHOW = {
  tag: { operation: 'tags show', param: 'tag_name' },
  ws: { operation: 'workspaces show', param: 'workspace_name' },
} as const satisfies Record<IdentifierKind, { operation: string; param: string }>;

async function idFor(kind: IdentifierKind, given: unknown, runner: Runner): Promise<unknown> {
  if (typeof given !== 'string' || isIdentifier(given)) return given;
  const { operation, param } = SHOW[kind];
  const { data: document } = await runner.run(operation, {
    organization_name: organizationOf(runner, given),
    [param]: given,
  });
  const data = isObject(document) ? document['data'] : undefined;
  if (!isObject(data) || typeof data['id'] !== 'string') {
    throw new CofferError('unavailable', `the answer about "${given}" has no identifier in it`);
  }
  return data['id'];
}
