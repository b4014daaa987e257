import { invalid, ownWords } from '../ground/errors.ts';
import { printIdentifier } from './names.ts';
import {
  type Organization,
  type Ports,
  type Reference,
  type WorkspaceRecord,
  workspacesOf,
} from './organization.ts';
import { edited } from './organization-edit.ts';
import { offsetOf, type Page, type PageRequest, pageFrom, RecordTable } from './record-table.ts';
import { DEFAULT_SETTINGS } from './settings.ts';
import { found, reading, surroundingsOf } from './surroundings.ts';
import { printWorkspace, type Workspace } from './workspaces.ts';

/** Maximum number per workspace: each change of the workspace rewrites its record, and those next to it. */
const MOST_CONSUMERS = 1000;

/** Whether the caller may see a workspace; undefined if it may see all. */
type Sees = ((workspace: { readonly id: string; readonly name: string }) => boolean) | undefined;

/**
 * Workspaces that may read the state of another one, as in Terraform Enterprise: stored and returned, because clients
 * compare them with what they wrote. No state is stored here, so nothing else depends on them.
 */
export class RemoteStateConsumers {
  readonly #ports: Ports;

  constructor(ports: Ports) {
    this.#ports = ports;
  }

  /**
   * Returns one page. If all workspaces may read the state (`global-remote-state`), these are all others, by name;
   * otherwise the consumers, in the order in which they were added. Deleted workspaces are omitted.
   * @throws `not-found`
   */
  list(reference: Reference, page: PageRequest, sees: Sees): Promise<Page<Workspace>> {
    return reading(this.#ports, found('ws', reference), async (organization, workspace, view) => {
      const table = await RecordTable.open<WorkspaceRecord>(view, workspacesOf(organization));
      const isSeen = seenIn(organization, sees) ?? (() => true);
      const { items, total } = isGlobal(workspace)
        ? await others(table, workspace, page, seenIn(organization, sees))
        : pageFrom((await table.getAll(workspace.stateConsumers ?? [])).filter(isSeen), page);
      const surroundings = await surroundingsOf(view, organization);
      const records = await table.getAll(items.map(({ key }) => key));
      const printed = await Promise.all(records.map((record) => printWorkspace(surroundings, record)));
      return { ...page, items: printed, total };
    });
  }

  /**
   * Adds consumers. Existing ones keep their position.
   * @throws `not-found`, `invalid`
   */
  add(reference: Reference, ids: readonly string[]): Promise<void> {
    return this.#change(reference, ids, (present, given) => [...present, ...given]);
  }

  /**
   * Removes consumers. Other workspaces are ignored.
   * @throws `not-found`, `invalid`
   */
  remove(reference: Reference, ids: readonly string[]): Promise<void> {
    return this.#change(reference, ids, (present, given) => {
      const removed = new Set(given);
      return present.filter((key) => !removed.has(key));
    });
  }

  /**
   * Replaces all consumers.
   * @throws `not-found`, `invalid`
   */
  replace(reference: Reference, ids: readonly string[]): Promise<void> {
    return this.#change(reference, ids, (_, given) => given);
  }

  #change(
    reference: Reference,
    ids: readonly string[],
    change: (present: readonly string[], given: readonly string[]) => readonly string[],
  ): Promise<void> {
    return edited(this.#ports, found('ws', reference), async (edit, workspace) => {
      if (isGlobal(workspace)) throw everybodyReads();
      const given: string[] = [];
      for (const id of ids) {
        const { key } = await edit.workspace(id);
        if (key === workspace.key)
          throw invalid(ownWords('a workspace cannot be a consumer of its own state'), { field: '/data' });
        given.push(key);
      }
      const { stateConsumers = [], ...rest } = workspace;
      const wanted = [...new Set(change(await edit.workspaces.living(stateConsumers), given))];
      if (wanted.length > MOST_CONSUMERS) throw tooMany(wanted.length);
      const updated = wanted.length === 0 ? rest : { ...rest, stateConsumers: wanted };
      await edit.updateWorkspace(workspace, updated, undefined);
    });
  }
}

const isGlobal = ({ settings }: WorkspaceRecord): boolean =>
  settings?.globalRemoteState ?? DEFAULT_SETTINGS.globalRemoteState;

interface Known {
  readonly key: string;
  readonly name: string;
}

const seenIn = ({ home }: Organization, sees: Sees) =>
  sees && (({ key, name }: Known): boolean => sees({ id: printIdentifier('ws', { home, key }), name }));

/** Every workspace but this one, as names and keys. */
async function others(
  table: RecordTable<WorkspaceRecord>,
  workspace: WorkspaceRecord,
  page: PageRequest,
  isSeen: ((known: Known) => boolean) | undefined,
): Promise<Pick<Page<Known>, 'items' | 'total'>> {
  const total = table.total - 1;
  const itself = new Set([workspace.name]);
  if (isSeen === undefined) return { items: await table.names(offsetOf(page), page.size, itself), total };
  return pageFrom((await table.names(0, total, itself)).filter(isSeen), page);
}

const everybodyReads = () =>
  invalid(ownWords('remote state consumers cannot be changed while global-remote-state is true'), {
    field: '/data',
    hint: 'set global-remote-state to false first: until then every workspace may read the state',
  });

const tooMany = (count: number) =>
  invalid(`a workspace can have at most ${MOST_CONSUMERS} remote state consumers, not ${count}`, {
    field: '/data',
    hint: 'set global-remote-state to true to let all workspaces read the state',
  });
