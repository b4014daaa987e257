import { asCofferError, type CofferError, invalid, notFound } from '../../ground/errors.ts';
import type { Operation, Runner } from '../../operations/declaration/operation.ts';
import { counted, type TagResource } from '../../operations/tags/documents.ts';
import {
  attach as attachOperation,
  detach as detachOperation,
  retag,
  tag,
} from '../../operations/tags/relationships.ts';
import { type KeyTagsData, tag as tagKey, untag as untagKey } from '../../operations/transit/key-tags.ts';
import { parseAnyIdentifier } from '../../tags/names.ts';
import { type Command, switching, taking } from '../command.ts';
import { DONE, FAILED } from '../exit-codes.ts';
import { type RawValues, resolved } from '../files/operation-values.ts';
import { printResult } from '../files/output.ts';
import { type Given, textsOption } from '../given.ts';
import { commandOf } from '../operation-command.ts';
import type { Session } from '../session.ts';
import { type Choice, choiceOf, chosenWorkspaces, whereOptions } from '../tags/chosen.ts';
import { carryOut, inCalls } from '../tags/in-calls.ts';
import { organizationOf, shownTag } from '../tags/surroundings.ts';
import { shellWord } from '../terminal/shell-word.ts';
import { withPermission } from '../with-permission.ts';

/** `tags attach` and `tags detach`, for the named workspaces, for all that match a filter, or for keys. */

const DRY_RUN = 'dry-run';
const WORKSPACE = 'workspace';
const KEY = 'key';

interface Bulk {
  readonly path: readonly string[];
  readonly summary: string;
  readonly operation: Operation;
  /** Whether a workspace is already in the desired state. */
  isDone(carries: boolean): boolean;
  said(tag: string, workspaces: string): string;
  readonly example: readonly [string, string];
  /** Operation that does the same to one key. */
  readonly onKey: Operation;
  readonly keyExample: readonly [string, string];
}

function bulkCommand(bulk: Bulk): Command {
  const plain = commandOf(bulk.path, bulk.summary, bulk.operation);
  return {
    ...plain,
    arguments: plain.arguments.map((argument) => ({ ...argument, many: true })),
    options: [
      ...plain.options.map((option) =>
        option.flag === WORKSPACE ? { ...option, excludes: whereOptions.map(({ flag }) => flag) } : option,
      ),
      ...whereOptions,
      taking(KEY, 'NAME', 'Names of transit keys, instead of workspaces. Can be repeated.', {
        takes: 'values',
        offers: 'key',
        excludes: [WORKSPACE, DRY_RUN, ...whereOptions.map(({ flag }) => flag)],
      }),
      switching(DRY_RUN, 'Only print the workspaces that would change.'),
    ],
    examples: [...plain.examples, bulk.example, bulk.keyExample],
    async run(session, given) {
      const choice = choiceOf(given.options);
      if (given.options.has(KEY)) return onKeys(session, given, bulk);
      if (choice !== undefined) return onChosen(session, given, bulk, choice);
      if (given.options.has(DRY_RUN)) {
        throw invalid(`--${DRY_RUN} needs --where-name, --where-tag, --any-tag or --without-tag`, {
          hint: 'use --where-name, --where-tag, --any-tag or --without-tag',
        });
      }
      if (!given.options.has(WORKSPACE)) throw withoutTargets(bulk, given.arguments);
      const isSeveral = given.arguments.length > 1 && given.options.has(WORKSPACE);
      return isSeveral ? onNamed(session, given, bulk) : plain.run(session, given);
    },
  };
}

/**
 * Returns the error for a command that names neither workspaces nor keys. Further words are probably workspaces, unless
 * they have a colon, as only tags do.
 */
function withoutTargets({ path, operation }: Bulk, [tag = '', ...others]: readonly string[]): CofferError {
  const isTyped = others.length > 0 && !others.some((word) => word.includes(':'));
  const typed = ['coffer', ...path, tag, `--${WORKSPACE}`, ...others].map(shellWord).join(' ');
  return invalid(`missing required value --${WORKSPACE}`, {
    hint: isTyped
      ? `run "${typed}"; for keys, use --${KEY}`
      : `use --${WORKSPACE} WS... ("coffer workspaces list" lists them) or --${KEY} NAME..., e.g. "${Object.keys(operation.cli?.examples ?? {})[0]}"`,
  });
}

/** Result of a change to one tag. */
interface Changed {
  readonly tag: string;
  /** Names of the keys or workspaces that changed. */
  readonly names: readonly string[];
  /** Number of those that were so before. */
  readonly unchanged: number;
}

/** Changes several tags on named workspaces, one tag after the other, once everything is known to exist. */
async function onNamed(session: Session, given: Given, bulk: Bulk): Promise<number> {
  if (given.options.has('out')) {
    throw invalid('--out cannot be used with several tags', { hint: 'omit it, or use one tag' });
  }
  const runner = await session.runner();
  const workspaces = textsOption(given.options, WORKSPACE);
  const tags = [...new Set(given.arguments)];
  const calls: { readonly tag: string; readonly raw: RawValues; readonly unchanged: number }[] = [];
  const missing: { readonly tag: string; readonly error: unknown }[] = [];
  for (const tag of tags) {
    const typed = { tag_id: tag, data: workspaces };
    const raw = await resolved(bulk.operation, typed, runner).catch((error: unknown) => {
      // Only the error for a missing tag has such a hint; all missing tags are named in one error.
      if (asCofferError(error)?.hint?.includes(CREATE) !== true) throw error;
      missing.push({ tag, error });
      return typed;
    });
    if (missing.length > 0) continue;
    const isShown = session.streams.err.isTerminal && !session.settings.quiet;
    const unchanged = isShown
      ? await bulk.operation.cli?.unchanged?.(raw, await withPermission(session, runner))
      : undefined;
    calls.push({ tag, raw, unchanged: unchanged ?? 0 });
  }
  const [first, ...further] = missing;
  if (first !== undefined) throw further.length === 0 ? first.error : tagsNotFound(session, missing);
  const pieces = calls.map(({ raw }) => ({ count: 1, run: () => runner.run(bulk.operation, raw) }));
  await carryOut(session, 'tags', pieces);
  if (session.settings.format !== undefined) {
    await printResult(session, { tags, workspaces }, { result: { member: 'tags', as: 'lines' } });
  }
  const total = new Set(workspaces).size;
  for (const { tag, unchanged } of calls) session.remark(saidOf(bulk, tag, total, unchanged));
  return DONE;
}

const CREATE = 'coffer tags create';

/** Returns the error for several tags that do not exist. */
function tagsNotFound(session: Session, missing: readonly { readonly tag: string }[]): CofferError {
  const names = missing.map(({ tag }) => tag);
  return notFound(`tags ${names.map((name) => `"${name}"`).join(', ')} not found`, {
    hint: `create them first with "${CREATE} ${names.join(' ')} --org ${organizationOf(session)}"`,
  });
}

/** Changes one key after the other, once all of them are known to exist. */
async function onKeys(session: Session, given: Given, bulk: Bulk): Promise<number> {
  const organization = organizationOf(session);
  const runner = await session.runner();
  const names = textsOption(given.options, KEY);
  const tags = await tagsCalled(runner, organization, given.arguments);
  const carried = new Map<string, readonly string[]>();
  for (const name of names) {
    const { data } = await runner.run('transit keys tags', { name });
    carried.set(name, (data as KeyTagsData).tags ?? []);
  }
  const more = 'organization' in bulk.onKey.params ? { organization } : {};
  for (const name of names) {
    await runner.run(bulk.onKey, { name, tags: tags.map(({ id }) => id), ...more });
  }
  const results = tags.map(({ attributes: { name: tag } }): Changed => {
    const isDone = (name: string): boolean => bulk.isDone(carried.get(name)?.includes(tag) === true);
    return { tag, names, unchanged: names.filter(isDone).length };
  });
  if (session.settings.format !== undefined) await printChanged(session, results, 'keys', {});
  for (const { tag, unchanged } of results) {
    const rest = unchanged === 0 ? '' : ` ${counted(unchanged, 'key')} unchanged.`;
    session.say(`${bulk.said(tag, counted(names.length - unchanged, 'key'))}${rest}`);
  }
  return DONE;
}

async function onChosen(session: Session, given: Given, bulk: Bulk, choice: Choice): Promise<number> {
  const organization = organizationOf(session);
  const runner = await session.runner();
  const tags = await tagsCalled(runner, organization, given.arguments);
  const { workspaces, isWhole } = await chosenWorkspaces(session, runner, organization, choice);
  const isDry = given.options.has(DRY_RUN);
  const results: Changed[] = [];
  for (const { id, attributes } of tags) {
    const changed = workspaces.filter(
      (workspace) => !bulk.isDone(workspace.attributes['tag-names'].includes(attributes.name)),
    );
    if (!isDry) {
      const ids = changed.map((workspace) => workspace.id);
      const attached = (data: readonly string[]) => runner.run(bulk.operation, { tag_id: id, data });
      await carryOut(session, 'workspaces', inCalls(ids, attached));
    }
    const names = changed.map((workspace) => workspace.attributes.name);
    results.push({ tag: attributes.name, names, unchanged: workspaces.length - changed.length });
  }
  if (isDry || session.settings.format !== undefined) {
    await printChanged(session, results, 'workspaces', { done: !isDry });
  }
  for (const { tag, names, unchanged } of isDry ? [] : results) {
    const rest = unchanged === 0 ? '' : ` ${counted(unchanged, 'workspace')} unchanged.`;
    session.say(`${bulk.said(tag, counted(names.length, 'workspace'))}${rest}`);
  }
  return isWhole ? DONE : FAILED;
}

/**
 * Prints what changed: for one tag its names, for several tags each tag with a
 * tab before each name.
 */
async function printChanged(
  session: Session,
  results: readonly Changed[],
  member: 'keys' | 'workspaces',
  more: object,
): Promise<void> {
  const documents = results.map(({ tag, names }) => ({ tag, [member]: names, ...more }));
  const [only, ...others] = documents;
  if (others.length === 0) {
    await printResult(session, only, { result: { member, as: 'lines' } });
    return;
  }
  const lines = results.flatMap(({ tag, names }) => names.map((name) => `${tag}\t${name}`));
  await printResult(
    session,
    { tags: documents },
    { lines: () => lines, result: { member: 'tags', as: 'lines' } },
  );
}

/** Formats the message for one tag on named workspaces. */
function saidOf(bulk: Bulk, tag: string, total: number, unchanged: number): string {
  const same = `${counted(unchanged, 'workspace')} unchanged.`;
  if (unchanged >= total) return `No changes made for ${tag}: ${same}`;
  const changed = bulk.said(tag, counted(total - unchanged, 'workspace'));
  return unchanged === 0 ? changed : `${changed} ${same}`;
}

async function tagsCalled(
  runner: Runner,
  organization: string,
  given: readonly string[],
): Promise<readonly TagResource[]> {
  const tags: TagResource[] = [];
  for (const tag of new Set(given)) tags.push(await tagCalled(runner, organization, tag));
  return tags;
}

const tagCalled = (runner: Runner, organization_name: string, tag: string): Promise<TagResource> =>
  shownTag(
    runner,
    parseAnyIdentifier(tag) === undefined ? { organization_name, tag_name: tag } : { tag_id: tag },
  );

export const attach = bulkCommand({
  path: ['tags', 'attach'],
  summary: 'Add a tag to workspaces or keys',
  operation: attachOperation,
  onKey: tagKey,
  keyExample: ['coffer tags attach env:prod --key orders pay --org acme', 'Add a tag to two transit keys'],
  isDone: (carries) => carries,
  said: (tag, workspaces) => `Added ${tag} to ${workspaces}.`,
  example: [
    "coffer tags attach env:prod --where-name 'billing-*' --where-tag team:core --dry-run --org acme",
    'Print which workspaces would change, without changing them',
  ],
});

export const detach = bulkCommand({
  path: ['tags', 'detach'],
  summary: 'Remove a tag from workspaces or keys',
  operation: detachOperation,
  onKey: untagKey,
  keyExample: ['coffer tags detach env:prod --key orders --org acme', 'Remove a tag from a transit key'],
  isDone: (carries) => !carries,
  said: (tag, workspaces) => `Removed ${tag} from ${workspaces}.`,
  example: [
    "coffer tags detach env:test --where-name 'billing-*' --org acme",
    'Remove a tag from all workspaces whose names begin with "billing-"',
  ],
});

const REPLACE = 'replace';
const PATH = ['workspaces', 'tag'];
const SUMMARY = 'Add tags to a workspace, creating missing ones';

const adding = commandOf(PATH, SUMMARY, tag);
const replacing = commandOf(PATH, SUMMARY, retag);

/** Command that adds tags to a workspace, or replaces all its tags. */
export const tagWorkspace: Command = {
  ...adding,
  options: [...adding.options, switching(REPLACE, 'Remove all other tags of the workspace.')],
  examples: [
    ...adding.examples,
    [
      'coffer tags attach env:prod --workspace billing web --org acme',
      'Add an existing tag to several workspaces',
    ],
    ['coffer workspaces tag billing env:prod --replace --org acme', 'Remove all other tags of the workspace'],
  ],
  run: (session, given) => (given.options.has(REPLACE) ? replacing : adding).run(session, given),
};
