import { type CofferError, invalid, ownWords } from '../../ground/errors.ts';
import type { View } from '../../store/store.ts';
import { organizationNotFound } from '../../tags/organization.ts';
import type { KeyTags } from '../../tags/tagged-keys.ts';
import type { Engine } from '../../transit/engine.ts';
import { changeKnown, keyIn, requireKey } from '../../transit/named-key.ts';
import type { MountCall, NewName, Runner } from '../declaration/operation.ts';
import { checkCount, IN_PARTS, text, texts } from '../declaration/params.ts';
import type { Table } from '../declaration/table.ts';
import { MOST_LINKED } from '../json-api/linkage.ts';
import { organizationFlag } from '../json-api/params.ts';
import { missingTags } from '../tags/by-name.ts';
import { changeText, lengthOf, taggedWords, tagsOfKeyAlready, untaggedWords } from '../tags/unchanged.ts';
import { existingKey, transitOperation } from './parameters.ts';

/**
 * Tags of an organization's pool on named keys.
 * @see docs/decisions/0303
 */

type KeyTagsCall = MountCall & { readonly engine: Engine };

/** Tags in the output of a key that has some. */
export type KeyTagsData = Partial<KeyTags>;

/** Organization of the tags; a key only has tags of one. */
export const tagOrganization = text({
  help: 'Organization that the tags belong to; see "coffer orgs list".',
  cli: organizationFlag,
});

const tagTexts = (help: string) =>
  texts({ help, required: true, cli: { positional: 'variadic', metavar: 'TAG', refersTo: 'tag' } });

const tagsTable = ({ organization = '', tags = [] }: KeyTagsData): Table => ({
  head: ['Tag', 'Organization'],
  rows: tags.map((tag) => [tag, organization]),
  whole: 0,
});

const cli = {
  acts: true,
  table: tagsTable,
  lines: ({ tags = [] }: KeyTagsData) => tags,
} as const;

/** Returns the tags that do not exist in the pool, so that they will be created. */
async function newTags(
  { organization: organization_name, tags: given }: Readonly<Record<string, unknown>>,
  runner: Runner,
): Promise<readonly NewName[]> {
  if (organization_name === undefined || !Array.isArray(given)) return [];
  return missingTags(
    runner,
    organization_name,
    given.map(String).filter((name) => !name.includes('=')),
  );
}

/** Returns the tags of a key; looked up only if the key refers to some. */
export async function tagsOfKey(
  { core }: MountCall,
  { document }: { readonly document: { readonly knownAs?: string } },
): Promise<KeyTagsData> {
  const { knownAs } = document;
  if (knownAs === undefined) return {};
  const { keys } = await core.tags();
  return (await core.store.read((view) => keys.of(view, knownAs))) ?? {};
}

export const tags = transitOperation({
  route: 'GET keys/:name/tags',
  withoutSecret: true,
  params: { name: existingKey },
  cli: {
    table: tagsTable,
    lines: cli.lines,
    empty: { what: 'tags on the key', create: 'coffer transit keys tag NAME TAG' },
  },
  run: async (call, { name }) => ({ data: await shownTags(call, name) }),
});

async function shownTags(call: KeyTagsCall, name: string): Promise<KeyTagsData> {
  const shown = await tagsOfKey(call, await requireKey(call.engine, name, 'key not found'));
  return { ...shown, tags: shown.tags ?? [] };
}

export const tag = transitOperation({
  route: 'POST keys/:name/tags',
  withoutSecret: true,
  params: {
    name: existingKey,
    organization: tagOrganization,
    tags: tagTexts('Tags to add, by name (team:core), ID or KEY=VALUE; those that do not exist are created.'),
  },
  cli: {
    ...cli,
    byTheWay: newTags,
    unchanged: tagsOfKeyAlready(true),
    done: ({ name, tags: given }, _data, _existing, already) =>
      changeText(taggedWords(`key ${name}`), lengthOf(given), already),
    examples: {
      'coffer transit keys tag orders env:prod team:core --org acme':
        'Add two tags, which are created if they do not exist',
    },
  },
  async run(call, { name, organization = '', tags: given }) {
    checkTexts(given);
    const { core, caller, engine } = call;
    const { keys } = await core.tags();
    await changeKnown(engine, name, async (tx, knownAs) => {
      const known = knownAs === undefined ? undefined : await keys.of(tx, knownAs);
      const wanted = organization || known?.organization;
      if (wanted === undefined) throw whichOrganization();
      // A caller who may not change the pool must not learn whether it exists.
      if (!caller.may(`api/v2/organizations/${wanted}/tags`, 'update')) throw organizationNotFound(wanted);
      return keys.tag(tx, { mount: engine.mount, name }, { record: knownAs, organization: wanted }, given);
    });
    return { data: await shownTags(call, name) };
  },
});

export const untag = transitOperation({
  route: 'POST keys/:name/untag',
  withoutSecret: true,
  params: {
    name: existingKey,
    tags: tagTexts(
      'Tags to remove, by name (team:core), ID or KEY=VALUE; those that the key does not have are ignored.',
    ),
  },
  cli: {
    ...cli,
    unchanged: tagsOfKeyAlready(false),
    done: ({ name, tags: given }, _data, _existing, missing) =>
      changeText(untaggedWords(`key ${name}`), lengthOf(given), missing),
    examples: {
      'coffer transit keys untag orders env:test': 'Remove a tag from the key; the tag itself is not deleted',
    },
  },
  async run(call, { name, tags: given }) {
    checkTexts(given);
    const { keys } = await call.core.tags();
    await changeKnown(call.engine, name, async (tx, knownAs) => {
      if (knownAs === undefined) return undefined;
      await keys.untag(tx, knownAs, given);
      return (await keys.of(tx, knownAs)) === undefined ? undefined : knownAs;
    });
    return { data: await shownTags(call, name) };
  },
});

/**
 * Returns the sorted names of the mount's keys that have all of these tags and that the caller may read.
 * @throws `not-found` for an unknown organization
 */
export async function keysCarrying(
  call: KeyTagsCall,
  organization: string | undefined,
  wanted: readonly string[],
): Promise<readonly string[]> {
  if (organization === undefined || organization === '') throw whichOrganization();
  const { core, caller, engine, mount } = call;
  const { keys } = await core.tags();
  return core.store.read(async (view) => {
    const names: string[] = [];
    for (const { name, record } of await found(view)) {
      if (!caller.may(`${mount}/keys/${name}`, 'read')) continue;
      if ((await keyIn(view, engine, name))?.document.knownAs === record) names.push(name);
    }
    return names.sort((a, b) => (a < b ? -1 : 1));
  });

  async function found(view: View) {
    try {
      return await keys.carrying(view, organization ?? '', engine.mount, wanted);
    } catch (error) {
      // A caller who may not read the organization must not learn that it exists.
      if (caller.may(`api/v2/organizations/${organization}`, 'read')) throw error;
      return [];
    }
  }
}

function checkTexts(given: readonly string[]): void {
  checkCount(given, MOST_LINKED, 'tags', IN_PARTS);
  if (given.length > 0) return;
  throw invalid(ownWords('missing tags'), { field: 'tags', hint: 'use at least one' });
}

const whichOrganization = (): CofferError =>
  invalid(ownWords('missing organization'), {
    field: 'organization',
    hint: 'use --org NAME or set COFFER_ORG; over HTTP, the parameter organization',
  });
