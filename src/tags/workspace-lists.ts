import { bindingsOf } from './bindings.ts';
import type { WorkspaceRecord } from './organization.ts';
import { firstNotBefore } from './record-table-format.ts';

/** Names of the lists that a workspace is in, by its own properties. */
export const listOf = {
  key: (key: string): string => `key ${key}`,
  pair: (key: string, value: string): string => `pair ${key}=${value}`,
  tag: (tagKey: string): string => `tag ${tagKey}`,
  project: (projectKey: string): string => `project ${projectKey}`,
} as const;

/** Inverted index: for each key, value, tag and project, the sorted positions of the records that have it. */
export class WorkspaceLists {
  /** Key of the project of workspaces without an explicit one. */
  readonly #defaultProject: string;
  readonly #lists = new Map<string, number[]>();

  constructor(records: readonly WorkspaceRecord[], defaultProject: string) {
    this.#defaultProject = defaultProject;
    for (const [place, record] of records.entries()) {
      for (const name of this.#namesFor(record)) {
        const list = this.#lists.get(name);
        if (list === undefined) this.#lists.set(name, [place]);
        else list.push(place);
      }
    }
  }

  /**
   * Returns the positions of the smallest group.
   * @param among groups of lists: a searched record is in one list of each group
   */
  fewest(among: readonly (readonly string[])[]): readonly number[] {
    const groups = among.map((names) => names.map((name) => this.#lists.get(name) ?? []));
    const sizeOf = (group: readonly (readonly number[])[]): number =>
      group.reduce((sum, places) => sum + places.length, 0);
    const [group = []] = groups.sort((a, b) => sizeOf(a) - sizeOf(b));
    return group.length === 1 ? (group[0] ?? []) : [...new Set(group.flat())].sort((a, b) => a - b);
  }

  /** Updates the lists after the record at a position was replaced by another one with the same name. */
  replace(place: number, before: WorkspaceRecord, after: WorkspaceRecord): void {
    const had = new Set(this.#namesFor(before));
    const has = new Set(this.#namesFor(after));
    for (const name of had) if (!has.has(name)) this.#remove(name, place);
    for (const name of has) if (!had.has(name)) this.#add(name, place);
  }

  #remove(name: string, place: number): void {
    const list = this.#lists.get(name) ?? [];
    const at = placeIn(list, place);
    if (list[at] === place) list.splice(at, 1);
    if (list.length === 0) this.#lists.delete(name);
  }

  #add(name: string, place: number): void {
    const list = this.#lists.get(name);
    if (list === undefined) this.#lists.set(name, [place]);
    else list.splice(placeIn(list, place), 0, place);
  }

  #namesFor(record: WorkspaceRecord): readonly string[] {
    return [
      listOf.project(record.project ?? this.#defaultProject),
      ...record.tags.map(listOf.tag),
      ...bindingsOf(record).flatMap(({ key, value }) => [listOf.key(key), listOf.pair(key, value)]),
    ];
  }
}

const placeIn = (list: readonly number[], place: number): number =>
  firstNotBefore(list.length, (at) => (list[at] ?? 0) < place);
