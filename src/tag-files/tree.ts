import { isObject, type JsonObject } from '../ground/objects.ts';
import {
  type Carried,
  checkAt,
  type KeyValues,
  type NameChecks,
  refusedAt,
  type TagFile,
} from './tag-file.ts';

/*
 * Common structure of JSON and YAML:
 *
 * tags: [env:prod, env:test]
 * workspaces:
 *   billing: [env:prod, team:core]
 *   web: { tags: [env:prod], bindings: { cost-center: '42' }, project: Shop }
 * projects:
 *   Shop: { owner: payments }
 * owns: ['env:*', 'team:*']
 */

const OF_FILE = ['tags', 'workspaces', 'projects', 'owns'];
const OF_WORKSPACE = ['tags', 'bindings', 'project'];

/**
 * Converts a parsed tree.
 * @param checks checks of names; default: none
 * @throws `invalid` naming the file and the place in it
 */
export function fromTree(tree: unknown, file: string, checks?: NameChecks): TagFile {
  if (!isObject(tree)) throw refusedAt(file, '', 'expected an object with "tags" and "workspaces"');
  refuseStrangers(tree, OF_FILE, file, '');
  const { tags, workspaces, projects, owns } = tree;
  return {
    tags: textsAt(tags ?? [], file, 'tags', checks?.tag),
    workspaces: mapAt(workspaces ?? {}, file, 'workspaces', (value, place, name) => {
      checkAt(file, place, () => checks?.workspace(name));
      return carriedAt(value, file, place, checks);
    }),
    projects:
      projects === undefined
        ? undefined
        : mapAt(projects, file, 'projects', (value, place, name) => {
            checkAt(file, place, () => checks?.project?.(name));
            return bindingsAt(value ?? {}, file, place, checks);
          }),
    owns: owns === undefined ? undefined : textsAt(owns, file, 'owns'),
  };
}

function carriedAt(value: unknown, file: string, place: string, checks?: NameChecks): Carried {
  if (value === null || Array.isArray(value)) return { tags: textsAt(value ?? [], file, place, checks?.tag) };
  if (!isObject(value)) throw refusedAt(file, place, 'expected a list of tags, or an object');
  refuseStrangers(value, OF_WORKSPACE, file, place);
  const { tags, bindings, project } = value;
  return {
    tags: textsAt(tags ?? [], file, `${place}.tags`, checks?.tag),
    // Only `{}` lists no keys on purpose; a member without a value lists nothing.
    bindings:
      bindings === undefined || bindings === null
        ? undefined
        : bindingsAt(bindings, file, `${place}.bindings`, checks),
    project: project === undefined ? undefined : projectAt(project, file, `${place}.project`, checks),
  };
}

function projectAt(value: unknown, file: string, place: string, checks?: NameChecks): string {
  const name = textAt(value, file, place);
  checkAt(file, place, () => checks?.project?.(name));
  return name;
}

const bindingsAt = (value: unknown, file: string, place: string, checks?: NameChecks): KeyValues =>
  mapAt(value, file, place, (item, at, key) => {
    const text = textAt(item ?? '', file, at);
    checkAt(file, at, () => checks?.binding?.(key, text));
    return text;
  });

function mapAt<T>(
  value: unknown,
  file: string,
  place: string,
  read: (value: unknown, place: string, name: string) => T,
): ReadonlyMap<string, T> {
  if (!isObject(value)) throw refusedAt(file, place, 'expected an object');
  return new Map(Object.entries(value).map(([name, item]) => [name, read(item, `${place}.${name}`, name)]));
}

function textsAt(
  value: unknown,
  file: string,
  place: string,
  check?: (text: string) => unknown,
): readonly string[] {
  if (!Array.isArray(value)) throw refusedAt(file, place, 'expected a list');
  return value.map((item: unknown, index) => {
    const text = textAt(item, file, `${place}[${index}]`);
    checkAt(file, `${place}[${index}]`, () => check?.(text));
    return text;
  });
}

function textAt(value: unknown, file: string, place: string): string {
  if (typeof value === 'string') return value;
  throw refusedAt(file, place, 'expected a string');
}

function refuseStrangers(members: JsonObject, known: readonly string[], file: string, place: string): void {
  const stranger = Object.keys(members).find((name) => !known.includes(name));
  if (stranger === undefined) return;
  throw refusedAt(file, place, `unknown field "${stranger}"; use one of ${known.join(', ')}`);
}

export const toTree = ({ tags, workspaces, projects, owns }: TagFile): JsonObject => ({
  tags,
  workspaces: Object.fromEntries([...workspaces].map(([name, carried]) => [name, shortest(carried)])),
  projects: projects === undefined ? undefined : Object.fromEntries([...projects].map(named)),
  owns,
});

const named = ([name, bindings]: readonly [string, KeyValues]) =>
  [name, Object.fromEntries(bindings)] as const;

/** Returns the shortest form: a list if there are only tags. */
const shortest = ({ tags, bindings, project }: Carried): unknown =>
  (bindings === undefined || bindings.size === 0) && project === undefined
    ? tags
    : {
        tags: tags.length > 0 ? tags : undefined,
        bindings: bindings !== undefined && bindings.size > 0 ? Object.fromEntries(bindings) : undefined,
        project,
      };
