import { isThere } from '../../ground/directories.ts';
import { closing, expected, invalid, withOtherHint } from '../../ground/errors.ts';
import type { Runner } from '../../operations/declaration/operation.ts';
import { copiedFirst } from '../../operations/tags/copied-first.ts';
import { counted } from '../../operations/tags/documents.ts';
import { FORMAT_NAMES, formatOf, loadFormat, MAX_FILE_BYTES } from '../../tag-files/formats.ts';
import type { NameChecks, TagFile, TagFormatName } from '../../tag-files/tag-file.ts';
import { toTree } from '../../tag-files/tree.ts';
import { withBindings } from '../../tags/bindings.ts';
import { plainName, projectName, tagName } from '../../tags/names.ts';
import { argument, type Command, type OwnCommand, switching, taking } from '../command.ts';
import { DONE, FAILED } from '../exit-codes.ts';
import { openInFile } from '../files/in-file.ts';
import { inputText, readFileOrInput, STANDARD } from '../files/input.ts';
import { outPlaceOf } from '../files/out-file.ts';
import { printResult } from '../files/output.ts';
import { choiceOption, type Given, textOption, textsOption, variable } from '../given.ts';
import { OUT, outOptions } from '../parse/operation-spec.ts';
import type { Session } from '../session.ts';
import { carryOutPlan } from '../tags/carry-out.ts';
import { refuseOverLimits } from '../tags/limits.ts';
import { isEmpty, type PlanOptions, planLines, planOf, planSummary, type TagPlan } from '../tags/plan.ts';
import { type KeyHolder, organizationOf, readWhole, refuseUnseen, type Whole } from '../tags/surroundings.ts';
import { shellWord } from '../terminal/shell-word.ts';

/** `tags export`, `tags import` and `tags apply`: an organization's tags as a file. */

const FORMAT = 'format';
const DRY_RUN = 'dry-run';
const PRUNE = 'prune';
const OWNS = 'owns';
const FROM = 'from';
const FROM_ORG = 'from-org';
const TFE = 'tfe';
/** Project that every organization has from the start. */
const DEFAULT_PROJECT = 'Default Project';

const formatOption = taking(FORMAT, 'FORMAT', 'File format.', {
  fallback: 'from the file extension',
  choices: FORMAT_NAMES,
});
const dryRun = switching(DRY_RUN, 'Only print what would change.');
const fileArgument = argument(
  'FILE',
  'File in the format of "coffer tags export"; "-" reads standard input.',
  { offers: 'file' },
);

/**
 * Returns the format of the tag file.
 * @throws `invalid` if it cannot be determined
 */
function formatFor(
  options: Given['options'],
  path: string | undefined,
  otherwise?: TagFormatName,
): TagFormatName {
  const format =
    choiceOption(options, FORMAT, FORMAT_NAMES) ??
    (path === undefined ? undefined : formatOf(path)) ??
    otherwise;
  if (format !== undefined) return format;
  throw invalid(`cannot tell the format of ${path ?? 'standard input'}`, {
    field: `--${FORMAT}`,
    hint: `use --format with one of ${FORMAT_NAMES.join(', ')}`,
  });
}

export const exportTags: OwnCommand = {
  options: [{ ...formatOption, fallback: 'from the extension of --out, else yaml' }, ...outOptions],
  details: 'The export is a consistent snapshot, even while other processes write.',
  examples: [
    ['coffer tags export --org acme > tags.yaml', 'Export all tags and workspaces'],
    ['coffer tags export --org acme --out tags.csv', 'Export CSV for a spreadsheet'],
  ],
  async run(session, { options }) {
    const format = formatFor(
      options,
      textOption(options, OUT),
      session.settings.format === 'json' ? 'json' : 'yaml',
    );
    const organization = organizationOf(session);
    const place = await outPlaceOf(session, options);
    const { print } = await loadFormat(format);
    const whole = await readWhole(session, await session.runner(), organization);
    refuseUnseen(whole);
    const content = fileOf(whole);
    const { tags, workspaces } = content;
    const written = `${counted(tags.length, 'tag')} and ${counted(workspaces.size, 'workspace')}`;
    const shape = { lines: () => [print(content)], result: { member: '', as: 'text' }, written } as const;
    await printResult(session, toTree(content), shape, { file: place, keepBase64: true });
    return whole.isWhole ? DONE : FAILED;
  },
};

function fileOf({ tags, workspaces, projects }: Whole): TagFile {
  const isPlain = (project: KeyHolder): boolean =>
    project.name === DEFAULT_PROJECT && !project.bindings?.size;
  const told = projects.filter((project) => !isPlain(project));
  return {
    tags: tags.map(({ attributes }) => attributes.name),
    workspaces: new Map(
      workspaces.map(({ name, tags: carried, bindings, project }) => [
        name,
        {
          tags: carried,
          bindings: bindings?.size ? bindings : undefined,
          // Without other projects, the project is not mentioned.
          project: told.length === 0 || project === undefined ? undefined : project,
        },
      ]),
    ),
    projects:
      told.length === 0
        ? undefined
        : new Map(told.map(({ name, bindings }) => [name, bindings ?? new Map()])),
  };
}

export const importTags: Command = {
  arguments: [{ ...fileArgument, required: false }],
  options: [
    formatOption,
    taking(
      FROM,
      'KIND',
      'Import from a Terraform Enterprise server (tfe) at --address into the local store, instead of from a file.',
      { choices: [TFE] },
    ),
    taking(FROM_ORG, 'NAME', 'Organization on the server to import from, with --from.', {
      fallback: 'the name given with --org or $COFFER_ORG',
    }),
    dryRun,
  ],
  details:
    'Creates missing tags, workspaces and projects, adds missing tags to workspaces, and moves workspaces to the ' +
    'projects that the file gives for them. A KEY=VALUE tag in the file replaces the existing value of KEY. No tag is ' +
    'removed or deleted. Running it twice changes nothing more. Use "coffer tags apply" to also remove tags. With ' +
    '--from tfe, the token for the Terraform Enterprise server is taken from --token-file, COFFER_TOKEN or TFE_TOKEN.',
  examples: [
    ['coffer tags import tags.csv --org acme', 'Import a CSV file'],
    ['coffer tags import tags.yaml --dry-run --org acme', 'Print what an import would change'],
    ['xz -dc tags.csv.xz | coffer tags import - --format csv --org acme', 'Import standard input'],
    [
      'coffer tags import --from tfe --address https://app.example.com --token-file token --org acme',
      'Import an organization from Terraform Enterprise',
    ],
  ],
  async run(session, given) {
    const { arguments: paths, options } = given;
    const addsOnly = { addsOnly: true, prunes: false, owns: [] };
    const from = textOption(options, FROM);
    if (from === undefined) {
      if (paths.length === 0)
        throw invalid('missing required argument FILE', {
          hint: `name a file, - for standard input, or use --${FROM} ${TFE}`,
        });
      return withFile(session, given, addsOnly);
    }
    const { address } = session.settings;
    if (from !== TFE || paths.length > 0 || address === undefined) {
      throw invalid(`--${FROM} ${TFE} needs --address and takes no FILE`, {
        field: `--${FROM}`,
      });
    }
    const organization = organizationOf(session);
    const file = await fileFrom(session, address, textOption(options, FROM_ORG) ?? organization);
    if (file === undefined) return FAILED;
    const { openHere } = await import('../runner-here.ts');
    const applying = { ...addsOnly, organization, isDry: options.has(DRY_RUN) };
    return closing(await openHere(session), async (here) => {
      await requireOrganization(here, organization);
      return carryOver(session, here, file, applying);
    });
  },
};

/**
 * Checks that the local store has the organization. The usual hint would list those of the server.
 * @throws `not-found` with the command that creates it
 */
async function requireOrganization(here: Runner, organization_name: string): Promise<void> {
  try {
    await here.run('orgs show', { organization_name });
  } catch (error) {
    const creation = `coffer orgs create ${shellWord(organization_name)}`;
    throw withOtherHint(
      expected(error, 'not-found'),
      `create it in the local store, without --address: "${creation}"`,
    );
  }
}

/**
 * Reads the tags of another server.
 * @returns undefined if they could not be read completely
 */
async function fileFrom(
  session: Session,
  address: string,
  organization: string,
): Promise<TagFile | undefined> {
  const token = variable(session.environment, 'COFFER_TOKEN') ?? variable(session.environment, 'TFE_TOKEN');
  const { openRemote } = await import('../runner-remote.ts');
  const there = await openRemote(session.withVariables({ COFFER_TOKEN: token }), address);
  const whole = await closing(there, () => readWhole(session, there, organization));
  refuseUnseen(whole);
  return whole.isWhole ? fileOf(whole) : undefined;
}

export const apply: Command = {
  arguments: [fileArgument],
  options: [
    formatOption,
    dryRun,
    switching(PRUNE, 'Also delete unused tags that are not in the file.'),
    taking(
      OWNS,
      'TAG',
      'Add and remove only tags that match, e.g. env:*; leave all others alone, also those that the file owns.',
      {
        takes: 'values',
      },
    ),
  ],
  details:
    'Adds and removes tags until each workspace in the file has exactly the tags listed for it; the same for ' +
    'KEY=VALUE tags, where the file lists any. Also creates missing tags, workspaces and projects, and moves ' +
    'workspaces to the projects that the file gives for them. Workspaces that are not in the file are left alone. Prints what will change and asks for confirmation, ' +
    'unless --yes is given.',
  examples: [
    ['coffer tags apply tags.yaml --dry-run --org acme', 'Print what would change'],
    ['git show main:tags.yaml | coffer tags apply - --format yaml --org acme', 'Apply standard input'],
    [
      "coffer tags apply team.yaml --owns 'team:*' --yes --org acme",
      'Add and remove only tags that begin with "team:"',
    ],
  ],
  run: (session, given) =>
    withFile(session, given, {
      addsOnly: false,
      prunes: given.options.has(PRUNE),
      owns: textsOption(given.options, OWNS),
    }),
};

async function withFile(session: Session, given: Given, options: PlanOptions): Promise<number> {
  const [path = ''] = given.arguments;
  const organization = organizationOf(session);
  const file = await readTagFile(session, given, path);
  const applying = { ...options, organization, isDry: given.options.has(DRY_RUN) };
  return carryOver(session, await session.runner(), file, applying);
}

/** Checks of the names and values in a file, which name the line of a wrong one. */
const CHECKS: NameChecks = {
  tag: tagName,
  workspace: plainName,
  project: projectName,
  binding: (key, value) => withBindings([], [{ key, value }], 0),
};

async function readTagFile(session: Session, { options }: Given, path: string): Promise<TagFile> {
  const isStandard = path === STANDARD;
  // Before its format: a name that no file has is the better reason.
  if (!isStandard && !isThere(path)) openInFile(path, 'FILE').close();
  const { parse } = await loadFormat(formatFor(options, isStandard ? undefined : path));
  const bytes = readFileOrInput(session, path, 'FILE', MAX_FILE_BYTES);
  const name = isStandard ? 'standard input' : path;
  return parse(inputText(bytes, name), name, CHECKS);
}

const TO_DO = ['to add', 'to change', 'to remove'] as const;
const ALL_DONE = ['added', 'changed', 'removed'] as const;

interface ApplyOptions extends PlanOptions {
  readonly organization: string;
  readonly isDry: boolean;
}

/** Plans the changes, shows the plan, asks for confirmation if something is removed, and applies it. */
async function carryOver(
  session: Session,
  runner: Runner,
  file: TagFile,
  options: ApplyOptions,
): Promise<number> {
  const whole = await readWhole(session, runner, options.organization);
  refuseUnseen(whole, neededFor(file));
  if (!whole.isWhole) return FAILED;
  const plan = planOf(file, whole, options);
  await refuseOverLimits(session, runner, { organization_name: options.organization, whole, plan });
  const asks = !options.addsOnly && !options.isDry && !isEmpty(plan);
  if (options.isDry || asks || session.settings.format !== undefined) await printPlan(session, plan);
  if (isEmpty(plan)) session.say('No changes needed.');
  if (options.isDry || isEmpty(plan)) return DONE;
  if (asks) session.requireConsent();
  const loses = planLines(plan).some((line) => line.startsWith('-'));
  const question = `Apply? ${planSummary(plan, TO_DO)}${loses ? ` ${copiedFirst()}` : ''}`;
  if (asks && !(await session.confirmed(async () => question))) return FAILED;
  await carryOutPlan(session, runner, { organization_name: options.organization, whole, plan });
  session.say(`Done: ${planSummary(plan, ALL_DONE)}`);
  return DONE;
}

/** Returns what the changes of a file depend on, in addition to tags of the pool. */
function neededFor({ workspaces, projects }: TagFile) {
  const carried = [...workspaces.values()];
  return {
    projects: projects !== undefined || carried.some(({ project }) => project !== undefined),
    bindings: carried.some(({ bindings }) => bindings !== undefined),
    bindingsOfProjects: Boolean(projects?.size),
  };
}

const printPlan = (session: Session, plan: TagPlan): Promise<boolean> =>
  printResult(
    session,
    { ...plan, deletedTags: plan.deletedTags.map(({ attributes }) => attributes.name) },
    {
      result: { member: '', as: 'lines' },
      lines: () => [...planLines(plan), `Plan: ${planSummary(plan, TO_DO)}`],
    },
  );
