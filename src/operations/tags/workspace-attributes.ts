import type { ExecutionMode, WorkspaceSettings } from '../../tags/workspace-settings.ts';
import type { ValuesOf } from '../declaration/params.ts';
import {
  attribute,
  attributePointer,
  booleanAttribute,
  choiceAttribute,
  settingOverwrites,
  textsAttribute,
  unkeptAttribute,
} from '../json-api/params.ts';

/** Attributes of a workspace that clients set and compare; they have no effect. */

const hidden = { cli: { hidden: true } } as const;

const toggle = (name: string, help: string) => booleanAttribute(name, { help, ...hidden });
const words = (name: string, help: string) => attribute(name, { help, ...hidden });

const kept = {
  'allow-destroy-plan': toggle('allow-destroy-plan', 'Whether plans to destroy can be queued.'),
  'assessments-enabled': toggle('assessments-enabled', 'Whether its health is assessed.'),
  'auto-apply': toggle('auto-apply', 'Whether good plans are applied without asking.'),
  'auto-apply-run-trigger': toggle(
    'auto-apply-run-trigger',
    'The same for runs that other workspaces trigger.',
  ),
  'auto-destroy-at': words('auto-destroy-at', 'When it is to be destroyed.'),
  'auto-destroy-activity-duration': words(
    'auto-destroy-activity-duration',
    'After how long without activity it is to be destroyed, such as 14d.',
  ),
  'file-triggers-enabled': toggle('file-triggers-enabled', 'Whether changed files decide about runs.'),
  'global-remote-state': toggle('global-remote-state', 'Whether all workspaces may read its state.'),
  'inherits-project-auto-destroy': toggle(
    'inherits-project-auto-destroy',
    'Whether the project decides about its destruction.',
  ),
  'project-remote-state': toggle('project-remote-state', 'Whether its project may read its state.'),
  'queue-all-runs': toggle('queue-all-runs', 'Whether the first run is queued like any other.'),
  'source-name': words('source-name', 'What made it.'),
  'source-url': words('source-url', 'Where what made it is found.'),
  'speculative-enabled': toggle(
    'speculative-enabled',
    'Whether plans are made for changes that are proposed.',
  ),
  'structured-run-output-enabled': toggle(
    'structured-run-output-enabled',
    'Whether runs are shown in structure.',
  ),
  'terraform-version': words('terraform-version', 'The version of Terraform, a constraint, or latest.'),
  'trigger-patterns': textsAttribute('trigger-patterns', {
    help: 'Patterns of the files that runs depend on.',
    ...hidden,
  }),
  'trigger-prefixes': textsAttribute('trigger-prefixes', {
    help: 'Directories of the files that runs depend on.',
    ...hidden,
  }),
  'working-directory': words('working-directory', 'Where in the repository it begins.'),
};

type WireName = keyof typeof kept;

const SETTING_OF = {
  'allow-destroy-plan': 'allowDestroyPlan',
  'assessments-enabled': 'assessmentsEnabled',
  'auto-apply': 'autoApply',
  'auto-apply-run-trigger': 'autoApplyRunTrigger',
  'auto-destroy-at': 'autoDestroyAt',
  'auto-destroy-activity-duration': 'autoDestroyActivityDuration',
  'file-triggers-enabled': 'fileTriggersEnabled',
  'global-remote-state': 'globalRemoteState',
  'inherits-project-auto-destroy': 'inheritsProjectAutoDestroy',
  'project-remote-state': 'projectRemoteState',
  'queue-all-runs': 'queueAllRuns',
  'source-name': 'sourceName',
  'source-url': 'sourceUrl',
  'speculative-enabled': 'speculativeEnabled',
  'structured-run-output-enabled': 'structuredRunOutputEnabled',
  'terraform-version': 'terraformVersion',
  'trigger-patterns': 'triggerPatterns',
  'trigger-prefixes': 'triggerPrefixes',
  'working-directory': 'workingDirectory',
} as const satisfies Readonly<Record<WireName, keyof WorkspaceSettings>>;

const WIRE_NAMES = Object.keys(SETTING_OF) as readonly WireName[];

export const NO_AGENTS = 'there are no agent pools here';

export const executionModes = (name: string) =>
  choiceAttribute<ExecutionMode>(name, ['remote', 'local'], {
    help: 'Where runs would take place: remote or local.',
    ...hidden,
    refusal: (word) => (word === 'agent' ? `agent can not be the ${name}: ${NO_AGENTS}` : undefined),
  });

export const attributeParams = {
  ...kept,
  'execution-mode': executionModes('execution-mode'),
  operations: toggle('operations', 'The older way to say remote (true) or local (false).'),
  'setting-overwrites': settingOverwrites('execution-mode'),
  'agent-pool-id': unkeptAttribute('agent-pool-id', NO_AGENTS),
  'vcs-repo': unkeptAttribute('vcs-repo', 'nothing is connected to version control here'),
  'hyok-enabled': unkeptAttribute('hyok-enabled', 'nothing runs here that would have a key'),
  'migration-environment': unkeptAttribute('migration-environment', 'there is nothing older to migrate'),
};

type Values = ValuesOf<typeof attributeParams>;

/** Returns the settings among the values of a request. */
export function settingsIn(values: Values): Partial<WorkspaceSettings> {
  const given = WIRE_NAMES.flatMap((name) => {
    const value = values[name];
    return value === undefined ? [] : [[SETTING_OF[name], emptied(name, value)] as const];
  });
  return Object.fromEntries(given);
}

/** Normalizes empty values: texts that are never null become empty, others null. */
function emptied(name: WireName, value: unknown): unknown {
  if (name === 'working-directory') return value ?? '';
  if (name === 'terraform-version') return value || 'latest';
  return value === '' ? null : value;
}

/** Returns the requested mode: undefined leaves it unchanged, null resets it to the project's. */
export function executionModeIn(values: Values): ExecutionMode | null | undefined {
  const { 'execution-mode': mode, operations, 'setting-overwrites': overwrites } = values;
  // Takes precedence over a value: Terraform's provider sends both, and means the project's.
  if (overwrites === false) return null;
  if (mode !== undefined || operations === undefined) return mode;
  return operations ? 'remote' : 'local';
}

const wireNames = new Map<string, WireName>(WIRE_NAMES.map((name) => [SETTING_OF[name], name]));

/** Returns the JSON pointer of a setting in a request. */
export const fieldOfSetting = (setting: keyof WorkspaceSettings): string =>
  attributePointer(wireNames.get(setting) ?? setting);

/** Formats the settings as attributes of the document. */
export const printSettings = (settings: WorkspaceSettings): Readonly<Record<WireName, unknown>> =>
  Object.fromEntries(WIRE_NAMES.map((name) => [name, settings[SETTING_OF[name]]])) as Record<
    WireName,
    unknown
  >;
