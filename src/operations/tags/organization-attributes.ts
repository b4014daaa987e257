import type { OrganizationSettings } from '../../tags/organization-settings.ts';
import type { ValuesOf } from '../declaration/params.ts';
import { attribute, booleanAttribute, countAttribute, unkeptAttribute } from '../json-api/params.ts';
import { executionModes } from './workspace-attributes.ts';

/** Attributes of an organization that clients set and compare; they have no effect. */

const hidden = { cli: { hidden: true } } as const;

const toggle = (name: string, help: string) => booleanAttribute(name, { help, ...hidden });

const kept = {
  'aggregated-commit-status-enabled': toggle(
    'aggregated-commit-status-enabled',
    'Report one commit status for all workspaces.',
  ),
  'allow-force-delete-workspaces': toggle(
    'allow-force-delete-workspaces',
    'Allow workspace admins to force-delete workspaces.',
  ),
  'assessments-enforced': toggle('assessments-enforced', 'Assess the health of every workspace.'),
  'collaborator-auth-policy': attribute('collaborator-auth-policy', {
    help: 'Login policy: password or two_factor_mandatory.',
    ...hidden,
  }),
  'cost-estimation-enabled': toggle('cost-estimation-enabled', 'Estimate costs.'),
  'max-ttl-enabled': toggle('max-ttl-enabled', 'Enforce a maximum lifetime for tokens.'),
  'owners-team-saml-role-id': attribute('owners-team-saml-role-id', {
    help: 'SAML role that maps to owners.',
    ...hidden,
  }),
  'send-passing-statuses-for-untriggered-speculative-plans': toggle(
    'send-passing-statuses-for-untriggered-speculative-plans',
    'Report speculative plans that are skipped as passed.',
  ),
  'session-remember': countAttribute('session-remember', {
    help: 'Session lifetime in minutes.',
    ...hidden,
  }),
  'session-timeout': countAttribute('session-timeout', {
    help: 'Session idle timeout in minutes.',
    ...hidden,
  }),
  'speculative-plan-management-enabled': toggle(
    'speculative-plan-management-enabled',
    'Cancel superseded speculative plans.',
  ),
  'stacks-enabled': toggle('stacks-enabled', 'Enable stacks.'),
  'user-tokens-enabled': toggle('user-tokens-enabled', 'Allow user tokens.'),
};

type OrganizationAttribute = keyof typeof kept;

const SETTING_OF = {
  'aggregated-commit-status-enabled': 'aggregatedCommitStatusEnabled',
  'allow-force-delete-workspaces': 'allowForceDeleteWorkspaces',
  'assessments-enforced': 'assessmentsEnforced',
  'collaborator-auth-policy': 'collaboratorAuthPolicy',
  'cost-estimation-enabled': 'costEstimationEnabled',
  'max-ttl-enabled': 'maxTtlEnabled',
  'owners-team-saml-role-id': 'ownersTeamSamlRoleId',
  'send-passing-statuses-for-untriggered-speculative-plans':
    'sendPassingStatusesForUntriggeredSpeculativePlans',
  'session-remember': 'sessionRemember',
  'session-timeout': 'sessionTimeout',
  'speculative-plan-management-enabled': 'speculativePlanManagementEnabled',
  'stacks-enabled': 'stacksEnabled',
  'user-tokens-enabled': 'userTokensEnabled',
} as const satisfies Readonly<Record<OrganizationAttribute, keyof OrganizationSettings>>;

const WIRE_NAMES = Object.keys(SETTING_OF) as readonly OrganizationAttribute[];

export const organizationParams = {
  ...kept,
  'default-execution-mode': executionModes('default-execution-mode'),
  'default-agent-pool': unkeptAttribute('default-agent-pool', 'agent pools are not supported'),
  'enforce-hyok': unkeptAttribute('enforce-hyok', 'runs are not supported'),
};

/** Returns the settings among the values of a request. */
export function organizationSettingsIn(
  values: Partial<ValuesOf<typeof organizationParams>>,
): Partial<OrganizationSettings> {
  const given = WIRE_NAMES.flatMap((name) =>
    values[name] === undefined ? [] : [[SETTING_OF[name], emptied(name, values[name])] as const],
  );
  return Object.fromEntries(given);
}

/** Replaces an empty value by the default of a setting that is never empty. */
const emptied = (name: OrganizationAttribute, value: unknown): unknown =>
  name === 'collaborator-auth-policy' ? value || 'password' : value === '' ? null : value;

/** Formats the settings as attributes of the document. */
export const printOrganizationSettings = (
  settings: OrganizationSettings,
): Readonly<Record<OrganizationAttribute, unknown>> =>
  Object.fromEntries(WIRE_NAMES.map((name) => [name, settings[SETTING_OF[name]]])) as Record<
    OrganizationAttribute,
    unknown
  >;
