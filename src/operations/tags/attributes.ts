import type { ExecutionMode } from '../../tags/settings.ts';
import { hidden, type Params, type ValuesOf } from '../declaration/params.ts';
import { bindingsRelationship } from '../json-api/bindings.ts';
import { projectRelationship } from '../json-api/linkage.ts';
import {
  attribute,
  attributePointer,
  booleanAttribute,
  choiceAttribute,
  countAttribute,
  settingOverwrites,
  textsAttribute,
  unkeptAttribute,
} from '../json-api/params.ts';

/** Attributes of workspaces, projects and organizations. */

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
      refersTo: 'project',
      help: `Name or ID of the project ${what}`,
    },
  });

/* Attributes that clients set and compare; they have no effect. */

export const onlyStored = (help: string) => `${help} Stored for clients; has no effect in Coffer.`;
const unused = (help: string) => hidden(onlyStored(help));
const toggle = (help: string) => (name: string) => booleanAttribute(name, unused(help));
const words = (help: string) => (name: string) => attribute(name, unused(help));
const list = (help: string) => (name: string) => textsAttribute(name, unused(help));
const count = (help: string) => (name: string) => countAttribute(name, unused(help));

/** Name of an attribute as a setting: `autoApply` for `auto-apply`. */
type SettingName<Name extends string> = Name extends `${infer Head}-${infer Tail}`
  ? `${Head}${Capitalize<SettingName<Tail>>}`
  : Name;

const settingNamed = (name: string): string =>
  name.replace(/-(.)/g, (_, letter: string) => letter.toUpperCase());

/**
 * Declares attributes that are kept as settings, under their names in camel case.
 * @param emptied normalizes an empty value
 */
function keptAttributes<T extends Readonly<Record<string, (name: string) => Params[string]>>>(
  attributes: T,
  emptied: (name: string, value: unknown) => unknown,
) {
  type KeptSettings = { readonly [Name in keyof T & string as SettingName<Name>]: unknown };
  const names = Object.keys(attributes);
  const params = Object.fromEntries(
    Object.entries(attributes).map(([name, declare]) => [name, declare(name)]),
  );
  return {
    params: params as { readonly [Name in keyof T]: ReturnType<T[Name]> },
    /** Returns the settings among the values of a request. */
    settingsIn: (values: { readonly [Name in keyof T]?: unknown }): Readonly<Record<string, unknown>> =>
      Object.fromEntries(
        names
          .filter((name) => values[name] !== undefined)
          .map((name) => [settingNamed(name), emptied(name, values[name])]),
      ),
    /** Formats the settings as attributes of the document. */
    print: (settings: KeptSettings) => {
      const values: Readonly<Record<string, unknown>> = { ...settings };
      return Object.fromEntries(names.map((name) => [name, values[settingNamed(name)]])) as {
        readonly [Name in keyof T]: unknown;
      };
    },
  };
}

export const workspaceAttributes = keptAttributes(
  {
    'allow-destroy-plan': toggle('Allow queueing destroy plans.'),
    'assessments-enabled': toggle('Assess the health of the workspace.'),
    'auto-apply': toggle('Apply successful plans automatically.'),
    'auto-apply-run-trigger': toggle('Apply successful plans of run triggers automatically.'),
    'auto-destroy-at': words('Time at which to auto-destroy the workspace.'),
    'auto-destroy-activity-duration': words(
      'Auto-destroy the workspace after this time without activity, e.g. 14d.',
    ),
    'file-triggers-enabled': toggle('Trigger runs by changed files.'),
    'global-remote-state': toggle('Allow all workspaces to read the state of the workspace.'),
    'inherits-project-auto-destroy': toggle('Inherit the auto-destroy setting from the project.'),
    'project-remote-state': toggle(
      'Allow the other workspaces of the project to read the state of the workspace.',
    ),
    'queue-all-runs': toggle('Queue runs from the start, without waiting for a first manual run.'),
    'source-name': words('Name of the program that created the workspace.'),
    'source-url': words('URL of the program that created the workspace.'),
    'speculative-enabled': toggle('Run speculative plans for pull requests.'),
    'structured-run-output-enabled': toggle('Show structured run output.'),
    'terraform-version': words('Terraform version, version constraint, or latest.'),
    'trigger-patterns': list('Patterns of files that trigger runs.'),
    'trigger-prefixes': list('Directories of files that trigger runs.'),
    'working-directory': words('Working directory in the repository.'),
  },
  (name, value) => {
    // Texts that are never null become empty, others null.
    if (name === 'working-directory') return value ?? '';
    if (name === 'terraform-version') return value || 'latest';
    return value === '' ? null : value;
  },
);

export const organizationAttributes = keptAttributes(
  {
    'aggregated-commit-status-enabled': toggle('Report one commit status for all workspaces.'),
    'allow-force-delete-workspaces': toggle('Allow workspace admins to force-delete workspaces.'),
    'assessments-enforced': toggle('Assess the health of every workspace.'),
    'collaborator-auth-policy': words('Login policy: password or two_factor_mandatory.'),
    'cost-estimation-enabled': toggle('Estimate costs.'),
    'max-ttl-enabled': toggle('Enforce a maximum lifetime for tokens.'),
    'owners-team-saml-role-id': words('SAML role whose users are in the owners team.'),
    'send-passing-statuses-for-untriggered-speculative-plans': toggle(
      'Report skipped speculative plans as passed.',
    ),
    'session-remember': count('Session lifetime in minutes.'),
    'session-timeout': count('Session idle timeout in minutes.'),
    'speculative-plan-management-enabled': toggle('Cancel superseded speculative plans.'),
    'stacks-enabled': toggle('Enable stacks.'),
    'user-tokens-enabled': toggle('Allow user tokens.'),
  },
  (name, value) =>
    // A setting that is never empty gets its default.
    name === 'collaborator-auth-policy' ? value || 'password' : value === '' ? null : value,
);

export const NO_AGENTS = 'agent pools are not supported';

export const executionModes = (name: string) =>
  choiceAttribute<ExecutionMode>(name, ['remote', 'local'], {
    help: onlyStored('Execution mode: remote or local.'),
    cli: { hidden: true },
    refusal: (word) => (word === 'agent' ? `agent cannot be the ${name}: ${NO_AGENTS}` : undefined),
  });

export const workspaceParams = {
  ...workspaceAttributes.params,
  'execution-mode': executionModes('execution-mode'),
  operations: toggle('Deprecated: true for remote, false for local execution.')('operations'),
  'setting-overwrites': settingOverwrites('execution-mode'),
  'agent-pool-id': unkeptAttribute('agent-pool-id', NO_AGENTS),
  'vcs-repo': unkeptAttribute('vcs-repo', 'version control is not supported'),
  'hyok-enabled': unkeptAttribute('hyok-enabled', 'runs are not supported'),
  'migration-environment': unkeptAttribute('migration-environment', 'there is nothing to migrate'),
};

export const organizationParams = {
  ...organizationAttributes.params,
  'default-execution-mode': executionModes('default-execution-mode'),
  'default-agent-pool': unkeptAttribute('default-agent-pool', 'agent pools are not supported'),
  'enforce-hyok': unkeptAttribute('enforce-hyok', 'runs are not supported'),
};

/** Returns the requested mode: undefined leaves it unchanged, null resets it to the project's. */
export function executionModeIn(values: ValuesOf<typeof workspaceParams>): ExecutionMode | null | undefined {
  const { 'execution-mode': mode, operations, 'setting-overwrites': overwrites } = values;
  // Takes precedence over a value: Terraform's provider sends both, and means the project's.
  if (overwrites === false) return null;
  if (mode !== undefined || operations === undefined) return mode;
  return operations ? 'remote' : 'local';
}

/** Returns the JSON pointer of a setting in a request. */
export const fieldOfSetting = (setting: string): string =>
  attributePointer(setting.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`));
