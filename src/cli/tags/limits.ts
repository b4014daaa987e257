import { asCofferError, CofferError } from '../../ground/errors.ts';
import type { Runner } from '../../operations/declaration/operation.ts';
import type { ReservedKeyResource } from '../../operations/tags/documents.ts';
import { refusedAt } from '../../tag-files/tag-file.ts';
import { type Binding, refuseOverrides, withBindings } from '../../tags/bindings.ts';
import { projectName } from '../../tags/names.ts';
import { everyPage } from '../every-page.ts';
import type { Session } from '../session.ts';
import type { PlannedBinding, TagPlan } from './plan.ts';
import type { KeyHolder, Whole } from './surroundings.ts';

/** Checks of a plan as a whole, by the rules that the server or store has for each change. */

/**
 * Checks a plan before anything is changed: names of projects, the number of KEY=VALUE tags, and reserved keys.
 * @throws `invalid` naming the workspace or project
 */
export async function refuseOverLimits(
  session: Session,
  runner: Runner,
  { organization_name, whole, plan }: { organization_name: string; whole: Whole; plan: TagPlan },
): Promise<void> {
  for (const name of plan.newProjects) within(`project ${name}`, () => projectName(name));
  if (plan.bound.length === 0) return;
  const projects = afterwards('project', whole.projects, plan);
  const workspaces = afterwards('workspace', whole.workspaces, plan);
  const projectOf = new Map(whole.workspaces.map(({ name, project }) => [name, project]));
  for (const { workspace, project } of plan.moved) projectOf.set(workspace, project);
  const bound = Map.groupBy(plan.bound, ({ on, name }) => `${on} ${name}`);
  const isOnWorkspace = plan.bound.some(({ on }) => on === 'workspace');
  const fixed = isOnWorkspace ? await fixedKeys(session, runner, organization_name) : new Set<string>();
  for (const [place, wanted] of bound) {
    const { on = 'project', name = '' } = wanted[0] ?? {};
    within(place, () => {
      withBindings([], (on === 'project' ? projects : workspaces).get(name) ?? [], 0);
      if (on === 'workspace') refuseOverrides(wanted, projects.get(projectOf.get(name) ?? '') ?? [], fixed);
    });
  }
}

/** Returns the KEY=VALUE tags that each project or workspace will have. */
function afterwards(
  kind: PlannedBinding['on'],
  holders: readonly KeyHolder[],
  { bound, unbound }: TagPlan,
): ReadonlyMap<string, readonly Binding[]> {
  const all = new Map(holders.map(({ name, bindings }) => [name, new Map(bindings)]));
  for (const { on, name, key } of unbound) if (on === kind) all.get(name)?.delete(key);
  for (const { on, name, key, value } of bound) {
    if (on !== kind) continue;
    const pairs = all.get(name) ?? new Map<string, string>();
    all.set(name, pairs.set(key, value));
  }
  return new Map(
    [...all].map(([name, pairs]) => [name, [...pairs].map(([key, value]) => ({ key, value, createdAt: 0 }))]),
  );
}

/** Returns the keys that workspaces cannot override; none if the caller cannot list them, or the server has none. */
async function fixedKeys(
  session: Session,
  runner: Runner,
  organization_name: string,
): Promise<ReadonlySet<string>> {
  try {
    const { document } = await everyPage<ReservedKeyResource>(session, runner, {
      operation: 'tags reserved list',
      raw: { organization_name },
    });
    const fixed = document.data.filter(({ attributes }) => attributes['disable-overrides']);
    return new Set(fixed.map(({ attributes }) => attributes.key));
  } catch (error) {
    if (asCofferError(error)?.kind === 'not-found') return new Set();
    throw error;
  }
}

function within(place: string, check: () => unknown): void {
  try {
    check();
  } catch (error) {
    throw error instanceof CofferError ? refusedAt(place, '', error.message, error.hint) : error;
  }
}
