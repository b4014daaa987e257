import { invalid } from '../../ground/errors.ts';
import type { Operation, Runner } from '../../operations/declaration/operation.ts';
import { counted, type ResourceDocument, type TagResource } from '../../operations/tags/documents.ts';
import { attach as attachOperation, detach as detachOperation } from '../../operations/tags/relationships.ts';
import { tag as tagKey, untag as untagKey } from '../../operations/transit/key-tags.ts';
import { parseAnyIdentifier } from '../../tags/identifiers.ts';
import type { Command } from '../command.ts';
import { DONE, FAILED } from '../exit-codes.ts';
import { printResult } from '../files/output.ts';
import { type Given, textsOption } from '../given.ts';
import { commandOf } from '../operation-command.ts';
import { switching } from '../parse/everywhere.ts';
import type { Session } from '../session.ts';
import { type Choice, choiceOf, chosenWorkspaces, whereOptions } from '../tags/chosen.ts';
import { carryOut, inCalls } from '../tags/in-calls.ts';
import { organizationOf } from '../tags/surroundings.ts';

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
    options: [
      ...plain.options.map((option) =>
        option.flag === WORKSPACE ? { ...option, excludes: whereOptions.map(({ flag }) => flag) } : option,
      ),
      ...whereOptions,
      {
        flag: KEY,
        takes: 'values',
        metavar: 'NAME',
        help: 'Keys of the mount, instead of workspaces. Can be repeated.',
        offers: 'key',
        excludes: [WORKSPACE, DRY_RUN, ...whereOptions.map(({ flag }) => flag)],
      },
      switching(DRY_RUN, 'Only print the workspaces that would change.'),
    ],
    examples: [...plain.examples, bulk.example, bulk.keyExample],
    async run(session, given) {
      const choice = choiceOf(given.options);
      if (given.options.has(KEY)) return onKeys(session, given, bulk);
      if (choice !== undefined) return onChosen(session, given, bulk, choice);
      if (!given.options.has(DRY_RUN)) return plain.run(session, given);
      throw invalid(`--${DRY_RUN} needs --where-name, --where-tag, --any-tag or --no-tag`, {
        hint: 'use --where-name, --where-tag, --any-tag or --no-tag',
      });
    },
  };
}

/** Changes one key after the other, once all of them are known to exist. */
async function onKeys(session: Session, given: Given, bulk: Bulk): Promise<number> {
  const [given_tag = ''] = given.arguments;
  const organization = organizationOf(session);
  const runner = await session.runner();
  const { id, attributes } = await tagCalled(runner, organization, given_tag);
  const names = textsOption(given.options, KEY);
  for (const name of names) await runner.run('transit keys tags', { name });
  const more = 'organization' in bulk.onKey.params ? { organization } : {};
  for (const name of names) await runner.run(bulk.onKey, { name, tags: [id], ...more });
  if (session.settings.format !== undefined) {
    await printResult(
      session,
      { tag: attributes.name, keys: names },
      { result: { member: 'keys', as: 'lines' } },
    );
  }
  session.say(bulk.said(attributes.name, counted(names.length, 'key')));
  return DONE;
}

async function onChosen(session: Session, given: Given, bulk: Bulk, choice: Choice): Promise<number> {
  const [given_tag = ''] = given.arguments;
  const organization = organizationOf(session);
  const runner = await session.runner();
  const { id, attributes } = await tagCalled(runner, organization, given_tag);
  const { workspaces, isWhole } = await chosenWorkspaces(session, runner, organization, choice);
  const changed = workspaces.filter(
    (workspace) => !bulk.isDone(workspace.attributes['tag-names'].includes(attributes.name)),
  );
  const isDry = given.options.has(DRY_RUN);
  if (!isDry) {
    const pieces = inCalls(changed.map((workspace) => workspace.id)).map((data) => ({
      count: data.length,
      run: () => runner.run(bulk.operation, { tag_id: id, data }),
    }));
    await carryOut(session, 'workspaces', pieces);
  }
  const names = changed.map((workspace) => workspace.attributes.name);
  if (isDry || session.settings.format !== undefined) {
    await printResult(session, { tag: attributes.name, workspaces: names, done: !isDry }, SHAPE);
  }
  const others = workspaces.length - changed.length;
  const rest = others === 0 ? '' : ` ${counted(others, 'workspace')} unchanged.`;
  if (!isDry) session.say(`${bulk.said(attributes.name, counted(changed.length, 'workspace'))}${rest}`);
  return isWhole ? DONE : FAILED;
}

const SHAPE = { result: { member: 'workspaces', as: 'lines' } } as const;

async function tagCalled(runner: Runner, organization_name: string, tag: string): Promise<TagResource> {
  const which =
    parseAnyIdentifier(tag) === undefined ? { organization_name, tag_name: tag } : { tag_id: tag };
  const { data } = await runner.run('tags show', which);
  return (data as ResourceDocument<TagResource>).data;
}

export const attach = bulkCommand({
  path: ['tags', 'attach'],
  summary: 'Add a tag to workspaces or keys',
  operation: attachOperation,
  onKey: tagKey,
  keyExample: ['coffer tags attach env:prod --key orders pay --org acme', 'Add a tag to two keys'],
  isDone: (carries) => carries,
  said: (tag, workspaces) => `Added ${tag} to ${workspaces}.`,
  example: [
    "coffer tags attach env:prod --where-name 'billing-*' --where-tag team:core --dry-run --org acme",
    'Preview which workspaces would change',
  ],
});

export const detach = bulkCommand({
  path: ['tags', 'detach'],
  summary: 'Remove a tag from workspaces or keys',
  operation: detachOperation,
  onKey: untagKey,
  keyExample: ['coffer tags detach env:prod --key orders --org acme', 'Remove a tag from a key'],
  isDone: (carries) => !carries,
  said: (tag, workspaces) => `Removed ${tag} from ${workspaces}.`,
  example: [
    "coffer tags detach env:test --where-name 'billing-*' --org acme",
    'Remove a tag from all workspaces with a prefix',
  ],
});
