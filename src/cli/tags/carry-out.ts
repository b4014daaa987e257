import type { Runner } from '../../operations/declaration/operation.ts';
import type {
  ProjectResource,
  ResourceDocument,
  Resources,
  TagResource,
  WorkspaceResource,
} from '../../operations/tags/documents.ts';
import type { Session } from '../session.ts';
import { type CountedCall, carryOut, deletingUnused, inCalls } from './in-calls.ts';
import type { Attachment, PlannedBinding, TagPlan } from './plan.ts';
import type { Whole } from './surroundings.ts';

interface PlannedOrganization {
  readonly organization_name: string;
  readonly whole: Whole;
  readonly plan: TagPlan;
}

/**
 * Carries out a plan, with as few calls as possible. Only planned changes are made; nothing that was changed meanwhile
 * is reverted.
 */
export async function carryOutPlan(
  session: Session,
  runner: Runner,
  { organization_name, whole, plan }: PlannedOrganization,
): Promise<void> {
  const tags = new Map(whole.tags.map(({ id, attributes }) => [attributes.name, id]));
  const workspaces = new Map(whole.workspaces.map(({ id, name }) => [name, id]));
  const projects = new Map(whole.projects.map(({ id, name }) => [name, id]));
  const isNew = new Set(plan.newWorkspaces);
  const onNew = Map.groupBy(
    plan.added.filter(({ workspace }) => isNew.has(workspace)),
    ({ workspace }) => workspace,
  );
  const makeTags = inCalls(plan.newTags, async (data) => {
    const answer = await runner.run('tags create', { organization_name, data });
    for (const { id, attributes } of (answer.data as Resources<TagResource>).data)
      tags.set(attributes.name, id);
  });
  const makeWorkspaces = plan.newWorkspaces.map((name) => ({
    count: 1 + (onNew.get(name)?.length ?? 0),
    async run() {
      const carried = onNew.get(name)?.map(({ tag }) => tag) ?? [];
      const answer = await runner.run('workspaces create', { organization_name, name, tags: carried });
      const { id } = (answer.data as ResourceDocument<WorkspaceResource>).data;
      workspaces.set(name, id);
    },
  }));
  const makeProjects = plan.newProjects.map((name) => ({
    count: 1,
    async run() {
      const answer = await runner.run('projects create', { organization_name, name });
      projects.set(name, (answer.data as ResourceDocument<ProjectResource>).data.id);
    },
  }));
  const ids: Ids = {
    tag: (name) => tags.get(name) ?? name,
    workspace: (name) => workspaces.get(name) ?? name,
    project: (name) => projects.get(name) ?? name,
  };
  const added = plan.added.filter(({ workspace }) => !isNew.has(workspace));
  await carryOut(session, 'changes', [
    ...makeTags,
    ...makeProjects,
    ...makeWorkspaces,
    ...moving(runner, plan, ids),
    ...binding(runner, plan.unbound, ids, 'unbind'),
    ...binding(runner, plan.bound, ids, 'bind'),
    ...linking(runner, added, ids, { ofTag: 'tags attach', ofWorkspace: 'workspaces tag' }),
    ...linking(runner, plan.removed, ids, { ofTag: 'tags detach', ofWorkspace: 'workspaces untag' }),
    ...deletingUnused(runner, organization_name, plan.deletedTags),
  ]);
}

/** IDs of objects. Objects that the plan creates have one only after that step. */
interface Ids {
  tag(name: string): string;
  workspace(name: string): string;
  project(name: string): string;
}

const moving = (runner: Runner, { moved }: TagPlan, ids: Ids): readonly CountedCall[] =>
  [...Map.groupBy(moved, ({ project }) => project)].flatMap(([project, moves]) =>
    inCalls(moves, (part) =>
      runner.run('projects move', {
        project_id: ids.project(project),
        data: part.map(({ workspace }) => ids.workspace(workspace)),
      }),
    ),
  );

/** Binds each workspace and each project with a call of its own. */
const binding = (
  runner: Runner,
  bindings: readonly PlannedBinding[],
  ids: Ids,
  operation: 'bind' | 'unbind',
): readonly CountedCall[] =>
  [...Map.groupBy(bindings, ({ on, name }) => `${on} ${name}`).values()].map((group) => ({
    count: group.length,
    async run() {
      const { on = 'workspace', name = '' } = group[0] ?? {};
      const data = group.map(({ key, value }) => (operation === 'bind' ? { key, value } : key));
      if (on === 'project')
        await runner.run(`projects ${operation}`, { project_id: ids.project(name), data });
      else await runner.run(`workspaces ${operation}`, { workspace_id: ids.workspace(name), data });
    },
  }));

/** Links tag by tag or workspace by workspace, whichever takes fewer calls. */
function linking(
  runner: Runner,
  attachments: readonly Attachment[],
  ids: Ids,
  operations: { readonly ofTag: string; readonly ofWorkspace: string },
): readonly CountedCall[] {
  const byTag = [...Map.groupBy(attachments, ({ tag }) => tag)].flatMap(([tag, items]) =>
    inCalls(items, (part) =>
      runner.run(operations.ofTag, {
        tag_id: ids.tag(tag),
        data: part.map(({ workspace }) => ids.workspace(workspace)),
      }),
    ),
  );
  const byWorkspace = [...Map.groupBy(attachments, ({ workspace }) => workspace)].flatMap(
    ([workspace, items]) =>
      inCalls(items, (part) =>
        runner.run(operations.ofWorkspace, {
          workspace_id: ids.workspace(workspace),
          data: part.map(({ tag }) => ids.tag(tag)),
        }),
      ),
  );
  return byTag.length <= byWorkspace.length ? byTag : byWorkspace;
}
