import type { ExecutionMode, WorkspaceSettings } from '../../tags/workspace-settings.ts';
import type { ValuesOf } from '../declaration/params.ts';
import { bindingsRelationship } from '../json-api/bindings.ts';
import { projectRelationship } from '../json-api/linkage.ts';
import {
  attribute,
  attributePointer,
  booleanAttribute,
  choiceAttribute,
  settingOverwrites,
  textsAttribute,
  unkeptAttribute,
} from '../json-api/params.ts';

export const descriptionOf = attribute('description', {
  help: 'Description of the workspace.',
  cli: { metavar: 'TEXT' },
});

/**
 * KEY=VALUE tags of a workspace.
 * @param help description of the list
 */
export const bindingsOf = (help: string) =>
  bindingsRelationship({ help, cli: { flag: 'bind', metavar: 'KEY=VALUE' } });

/**
 * Project of a workspace.
 * @param what text that ends a sentence, after "project"
 */
export const projectOf = (what: string) =>
  projectRelationship({
    help: `ID of the project ${what}`,
    cli: {
      flag: 'project',
      metavar: 'PROJECT',
      refersTo: 'project',
      help: `Name or ID of the project ${what}`,
    },
  });

/* Attributes that clients set and compare; they have no effect. */

const hidden = { cli: { hidden: true } } as const;

const toggle = (name: string, help: string) => booleanAttribute(name, { help, ...hidden });
const words = (name: string, help: string) => attribute(name, { help, ...hidden });

const kept = {
  'allow-destroy-plan': toggle('allow-destroy-plan', 'Allow queueing destroy plans.'),
  'assessments-enabled': toggle('assessments-enabled', 'Assess the health of the workspace.'),
  'auto-apply': toggle('auto-apply', 'Apply successful plans automatically.'),
  'auto-apply-run-trigger': toggle(
    'auto-apply-run-trigger',
    'Apply successful plans of run triggers automatically.',
  ),
  'auto-destroy-at': words('auto-destroy-at', 'Time to auto-destroy the workspace.'),
  'auto-destroy-activity-duration': words(
    'auto-destroy-activity-duration',
    'Auto-destroy after this inactivity, e.g. 14d.',
  ),
  'file-triggers-enabled': toggle('file-triggers-enabled', 'Trigger runs by changed files.'),
  'global-remote-state': toggle('global-remote-state', 'Allow all workspaces to read its state.'),
  'inherits-project-auto-destroy': toggle(
    'inherits-project-auto-destroy',
    'Inherit the auto-destroy setting from the project.',
  ),
  'project-remote-state': toggle('project-remote-state', 'Allow its project to read its state.'),
  'queue-all-runs': toggle('queue-all-runs', 'Queue the first run like any other.'),
  'source-name': words('source-name', 'Name of the source that created it.'),
  'source-url': words('source-url', 'URL of that source.'),
  'speculative-enabled': toggle('speculative-enabled', 'Run speculative plans for pull requests.'),
  'structured-run-output-enabled': toggle('structured-run-output-enabled', 'Show structured run output.'),
  'terraform-version': words('terraform-version', 'Terraform version, version constraint, or latest.'),
  'trigger-patterns': textsAttribute('trigger-patterns', {
    help: 'Patterns of files that trigger runs.',
    ...hidden,
  }),
  'trigger-prefixes': textsAttribute('trigger-prefixes', {
    help: 'Directories of files that trigger runs.',
    ...hidden,
  }),
  'working-directory': words('working-directory', 'Working directory in the repository.'),
};

type WorkspaceAttribute = keyof typeof kept;

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
} as const satisfies Readonly<Record<WorkspaceAttribute, keyof WorkspaceSettings>>;

const WIRE_NAMES = Object.keys(SETTING_OF) as readonly WorkspaceAttribute[];

export const NO_AGENTS = 'agent pools are not supported';

export const executionModes = (name: string) =>
  choiceAttribute<ExecutionMode>(name, ['remote', 'local'], {
    help: 'Execution mode: remote or local.',
    ...hidden,
    refusal: (word) => (word === 'agent' ? `agent cannot be the ${name}: ${NO_AGENTS}` : undefined),
  });

export const attributeParams = {
  ...kept,
  'execution-mode': executionModes('execution-mode'),
  operations: toggle('operations', 'Deprecated: true for remote, false for local execution.'),
  'setting-overwrites': settingOverwrites('execution-mode'),
  'agent-pool-id': unkeptAttribute('agent-pool-id', NO_AGENTS),
  'vcs-repo': unkeptAttribute('vcs-repo', 'version control is not supported'),
  'hyok-enabled': unkeptAttribute('hyok-enabled', 'runs are not supported'),
  'migration-environment': unkeptAttribute('migration-environment', 'there is nothing to migrate'),
};

type WorkspaceValues = ValuesOf<typeof attributeParams>;

/** Returns the settings among the values of a request. */
export function settingsIn(values: WorkspaceValues): Partial<WorkspaceSettings> {
  const given = WIRE_NAMES.flatMap((name) => {
    const value = values[name];
    return value === undefined ? [] : [[SETTING_OF[name], emptied(name, value)] as const];
  });
  return Object.fromEntries(given);
}

/** Normalizes empty values: texts that are never null become empty, others null. */
function emptied(name: WorkspaceAttribute, value: unknown): unknown {
  if (name === 'working-directory') return value ?? '';
  if (name === 'terraform-version') return value || 'latest';
  return value === '' ? null : value;
}

/** Returns the requested mode: undefined leaves it unchanged, null resets it to the project's. */
export function executionModeIn(values: WorkspaceValues): ExecutionMode | null | undefined {
  const { 'execution-mode': mode, operations, 'setting-overwrites': overwrites } = values;
  // Takes precedence over a value: Terraform's provider sends both, and means the project's.
  if (overwrites === false) return null;
  if (mode !== undefined || operations === undefined) return mode;
  return operations ? 'remote' : 'local';
}

const wireNames = new Map<string, WorkspaceAttribute>(WIRE_NAMES.map((name) => [SETTING_OF[name], name]));

/** Returns the JSON pointer of a setting in a request. */
export const fieldOfSetting = (setting: keyof WorkspaceSettings): string =>
  attributePointer(wireNames.get(setting) ?? setting);

/** Formats the settings as attributes of the document. */
export const printSettings = (settings: WorkspaceSettings): Readonly<Record<WorkspaceAttribute, unknown>> =>
  Object.fromEntries(WIRE_NAMES.map((name) => [name, settings[SETTING_OF[name]]])) as Record<
    WorkspaceAttribute,
    unknown
  >;
