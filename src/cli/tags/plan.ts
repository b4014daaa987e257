import { invalid } from '../../ground/errors.ts';
import type { TagResource } from '../../operations/tags/documents.ts';
import type { KeyValues, TagFile } from '../../tag-files/tag-file.ts';
import { anyOf, plainName, tagName } from '../../tags/names.ts';
import type { KeyHolder, Whole } from './surroundings.ts';

/**
 * Changes that bring an organization into the state of a file.
 * @see docs/decisions/0201
 */

export interface TagPlan {
  readonly newTags: readonly string[];
  readonly newProjects: readonly string[];
  readonly newWorkspaces: readonly string[];
  readonly moved: readonly Move[];
  readonly added: readonly Attachment[];
  readonly removed: readonly Attachment[];
  readonly bound: readonly PlannedBinding[];
  readonly unbound: readonly PlannedBinding[];
  readonly deletedTags: readonly TagResource[];
}

export interface Attachment {
  readonly workspace: string;
  readonly tag: string;
}

interface Move {
  readonly workspace: string;
  readonly project: string;
  readonly before: string | undefined;
}

export interface PlannedBinding {
  readonly on: 'workspace' | 'project';
  readonly name: string;
  readonly key: string;
  readonly value: string;
  /** Present value; absent for a key that does not exist yet. */
  readonly before?: string | undefined;
}

export interface PlanOptions {
  /** Whether nothing is removed or deleted. */
  readonly addsOnly: boolean;
  /** Whether tags that the file does not name, and that no workspace has after the changes, are deleted. */
  readonly prunes: boolean;
  /** Patterns that narrow those of the file. */
  readonly owns: readonly string[];
}

/**
 * Plans the changes. Workspaces that the file does not name are not changed, nor are tags that it does not manage.
 * @throws `invalid` naming an invalid value of the file
 */
export function planOf(file: TagFile, whole: Whole, options: PlanOptions): TagPlan {
  return new Planning(file, whole, options).plan();
}

class Planning {
  readonly #file: TagFile;
  readonly #whole: Whole;
  readonly #options: PlanOptions;
  readonly #owned: Owned;
  readonly #named: Set<string>;
  readonly #projects: Set<string>;
  readonly #added: Attachment[] = [];
  readonly #removed: Attachment[] = [];
  readonly #moved: Move[] = [];
  readonly #bound: PlannedBinding[] = [];
  readonly #unbound: PlannedBinding[] = [];

  constructor(file: TagFile, whole: Whole, options: PlanOptions) {
    this.#file = file;
    this.#whole = whole;
    this.#options = options;
    this.#owned = ownedByAll([
      ownedBy(file.owns ?? [], 'pattern under owns: in this file'),
      ownedBy(options.owns, 'pattern of --owns'),
    ]);
    this.#named = new Set(file.tags.map((tag) => this.#tag(tag)));
    this.#projects = new Set(file.projects?.keys());
  }

  plan(): TagPlan {
    const { tags, workspaces, projects } = this.#whole;
    const known = new Set(tags.map(({ attributes }) => attributes.name));
    const present = new Set(workspaces.map(({ name }) => name));
    const held = new Set(projects.map(({ name }) => name));
    const ofProject = new Map(projects.map((project) => [project.name, project]));
    for (const [name, bindings] of this.#file.projects ?? []) {
      this.#bindings('project', name, bindings, ofProject.get(name));
    }
    this.#workspaces();
    return {
      newTags: [...this.#named].filter((tag) => !known.has(tag)),
      newProjects: [...this.#projects].filter((name) => !held.has(name)),
      newWorkspaces: [...this.#file.workspaces.keys()].filter((name) => !present.has(name)),
      moved: this.#moved,
      added: this.#added,
      removed: this.#removed,
      bound: this.#bound,
      unbound: this.#unbound,
      deletedTags: this.#options.prunes ? this.#unused() : [],
    };
  }

  #workspaces(): void {
    const present = new Map(this.#whole.workspaces.map((workspace) => [workspace.name, workspace]));
    for (const [name, carried] of this.#file.workspaces) {
      const workspace = plainName(name, name);
      const found = present.get(workspace);
      const wanted = new Set(carried.tags.map((tag) => this.#tag(tag)));
      const has = new Set(found?.tags);
      for (const tag of wanted) {
        this.#named.add(tag);
        if (!has.has(tag)) this.#added.push({ workspace, tag });
      }
      for (const tag of this.#options.addsOnly ? [] : has) {
        if (!wanted.has(tag) && this.#owned.has(tag)) this.#removed.push({ workspace, tag });
      }
      if (carried.bindings !== undefined) this.#bindings('workspace', workspace, carried.bindings, found);
      const { project } = carried;
      if (project === undefined) continue;
      this.#projects.add(project);
      if (project !== found?.project) this.#moved.push({ workspace, project, before: found?.project });
    }
  }

  #bindings(on: PlannedBinding['on'], name: string, wanted: KeyValues, found: KeyHolder | undefined): void {
    const has = found?.bindings ?? new Map<string, string>();
    for (const [key, value] of wanted) {
      this.#owned.check(key);
      const before = has.get(key);
      if (before === value) continue;
      this.#bound.push({ on, name, key, value, before });
    }
    if (this.#options.addsOnly) return;
    for (const [key, value] of has) {
      if (!wanted.has(key) && this.#owned.has(key)) this.#unbound.push({ on, name, key, value });
    }
  }

  /**
   * Parses a tag.
   * @throws `invalid` if the name is invalid, or the file does not manage it
   */
  #tag(text: string): string {
    const tag = tagName(text, text);
    this.#owned.check(tag);
    return tag;
  }

  #unused(): readonly TagResource[] {
    const { tags } = this.#whole;
    const counts = new Map(tags.map(({ attributes }) => [attributes.name, attributes['instance-count']]));
    for (const { tag } of this.#added) counts.set(tag, (counts.get(tag) ?? 0) + 1);
    for (const { tag } of this.#removed) counts.set(tag, (counts.get(tag) ?? 0) - 1);
    return tags.filter(
      ({ attributes: { name } }) => !this.#named.has(name) && counts.get(name) === 0 && this.#owned.has(name),
    );
  }
}

export const isEmpty = (plan: TagPlan): boolean => Object.values(plan).every(({ length }) => length === 0);

const owner = ({ on, name }: PlannedBinding): string => (on === 'project' ? `project ${name}` : name);
const pair = (key: string, value: string): string => (value === '' ? key : `${key}=${value}`);

/** Formats one line for each change: `+` adds, `~` changes, `-` removes. */
export const planLines = (plan: TagPlan): readonly string[] => [
  ...plan.newTags.map((tag) => `+ tag ${tag}`),
  ...plan.newProjects.map((project) => `+ project ${project}`),
  ...plan.newWorkspaces.map((workspace) => `+ workspace ${workspace}`),
  ...plan.moved.map(({ workspace, project, before }) =>
    before === undefined ? `+ ${workspace}: in ${project}` : `~ ${workspace}: in ${before} -> in ${project}`,
  ),
  ...plan.added.map(({ workspace, tag }) => `+ ${workspace}: ${tag}`),
  ...plan.bound.map((binding) => {
    const { key, value, before } = binding;
    const change = before === undefined ? pair(key, value) : `${pair(key, before)} -> ${pair(key, value)}`;
    return `${before === undefined ? '+' : '~'} ${owner(binding)}: ${change}`;
  }),
  ...plan.unbound.map((binding) => `- ${owner(binding)}: ${pair(binding.key, binding.value)}`),
  ...plan.removed.map(({ workspace, tag }) => `- ${workspace}: ${tag}`),
  ...plan.deletedTags.map(({ attributes }) => `- tag ${attributes.name}`),
];

/**
 * Formats the number of changes of each kind.
 * @param words verbs for additions, changes and removals
 */
export function planSummary(plan: TagPlan, words: readonly [string, string, string]): string {
  const counts = ['+', '~', '-'].map(
    (sign) => planLines(plan).filter((line) => line.startsWith(sign)).length,
  );
  return `${counts.map((count, at) => `${count} ${words[at]}`).join(', ')}.`;
}

/** Tags and keys that a file manages. */
interface Owned {
  has(name: string): boolean;
  /**
   * Checks a name.
   * @throws `invalid` if the file does not manage it
   */
  check(name: string): void;
}

/**
 * Returns the managed tags.
 * @param patterns patterns; all tags if empty
 * @param noun of a pattern, for errors
 */
function ownedBy(patterns: readonly string[], noun: string): Owned {
  const has = patterns.length === 0 ? () => true : anyOf(patterns);
  return {
    has,
    check(name) {
      if (has(name)) return;
      throw invalid(`no ${noun} matches the tag "${name}"`, {
        field: name,
        hint: 'remove the tag from the file, or add a pattern that matches it',
      });
    },
  };
}

/** Returns the tags that each of several manages: an option never adds to what its file manages. */
const ownedByAll = (each: readonly Owned[]): Owned => ({
  has: (name) => each.every((owned) => owned.has(name)),
  check(name) {
    for (const owned of each) owned.check(name);
  },
});
