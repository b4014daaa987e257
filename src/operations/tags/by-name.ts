import { CofferError, invalid } from '../../ground/errors.ts';
import { isObject } from '../../ground/objects.ts';
import { parseAnyIdentifier } from '../../tags/identifiers.ts';
import type { Runner } from '../declaration/operation.ts';
import { type IdentifiedKind, RESOURCE_KINDS } from '../resource-kinds.ts';

type Raw = Readonly<Record<string, unknown>>;
type Resolve = (raw: Raw, runner: Runner) => Promise<Raw>;

/** An identifier of the other kind is one too: as such it is not found, or leaves out nothing, as over HTTP. */
const isIdentifier = (text: unknown): boolean =>
  typeof text === 'string' && parseAnyIdentifier(text) !== undefined;

function organizationOf(runner: Runner, name: unknown): string {
  if (runner.organization !== undefined) return runner.organization;
  throw invalid(`which organization has "${String(name)}"?`, {
    field: '--org',
    hint: 'give --org NAME or set COFFER_ORG, or give an identifier in place of the name',
  });
}

/** Puts a name into the parameters that go with it in a path, where the command line took an identifier or a name. */
export const nameBesideId =
  (kind: IdentifiedKind): Resolve =>
  async (raw, runner) => {
    const { param, nameParam } = RESOURCE_KINDS[kind].identifier;
    const { [param]: given, ...others } = raw;
    if (given === undefined || isIdentifier(given)) return raw;
    return { ...others, [nameParam]: given, organization_name: organizationOf(runner, given) };
  };

/** Looks up the identifiers of workspaces and tags that the command line took by name. */
export const idsFor =
  (params: Readonly<Record<string, IdentifiedKind>>): Resolve =>
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

async function idFor(kind: IdentifiedKind, given: unknown, runner: Runner): Promise<unknown> {
  if (typeof given !== 'string' || isIdentifier(given)) return given;
  const { show, nameParam } = RESOURCE_KINDS[kind].identifier;
  const { data: document } = await runner.run(show, {
    organization_name: organizationOf(runner, given),
    [nameParam]: given,
  });
  const data = isObject(document) ? document['data'] : undefined;
  if (!isObject(data) || typeof data['id'] !== 'string') {
    throw new CofferError('unavailable', `the answer about "${given}" has no identifier in it`);
  }
  return data['id'];
}
