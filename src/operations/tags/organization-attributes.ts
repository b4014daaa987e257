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
    'Whether a commit gets one status for all workspaces.',
  ),
  'allow-force-delete-workspaces': toggle(
    'allow-force-delete-workspaces',
    'Whether who may administer a workspace may delete it with its resources.',
  ),
  'assessments-enforced': toggle(
    'assessments-enforced',
    'Whether the health of every workspace is assessed.',
  ),
  'collaborator-auth-policy': attribute('collaborator-auth-policy', {
    help: 'How people log in: password, or two_factor_mandatory.',
    ...hidden,
  }),
  'cost-estimation-enabled': toggle('cost-estimation-enabled', 'Whether costs are estimated.'),
  'max-ttl-enabled': toggle('max-ttl-enabled', 'Whether tokens have a longest life.'),
  'owners-team-saml-role-id': attribute('owners-team-saml-role-id', {
    help: 'The role that makes somebody an owner.',
    ...hidden,
  }),
  'send-passing-statuses-for-untriggered-speculative-plans': toggle(
    'send-passing-statuses-for-untriggered-speculative-plans',
    'Whether plans that need not be made count as passed.',
  ),
  'session-remember': countAttribute('session-remember', {
    help: 'Minutes for which a login is remembered.',
    ...hidden,
  }),
  'session-timeout': countAttribute('session-timeout', {
    help: 'Minutes after which an idle login ends.',
    ...hidden,
  }),
  'speculative-plan-management-enabled': toggle(
    'speculative-plan-management-enabled',
    'Whether plans that were overtaken are given up.',
  ),
  'stacks-enabled': toggle('stacks-enabled', 'Whether there may be stacks.'),
  'user-tokens-enabled': toggle('user-tokens-enabled', 'Whether people may use tokens of their own.'),
};

type WireName = keyof typeof kept;

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
} as const satisfies Readonly<Record<WireName, keyof OrganizationSettings>>;

const WIRE_NAMES = Object.keys(SETTING_OF) as readonly WireName[];

export const organizationParams = {
  ...kept,
  'default-execution-mode': executionModes('default-execution-mode'),
  'default-agent-pool': unkeptAttribute('default-agent-pool', 'there are no agent pools here'),
  'enforce-hyok': unkeptAttribute('enforce-hyok', 'nothing runs here that would have a key'),
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
const emptied = (name: WireName, value: unknown): unknown =>
  name === 'collaborator-auth-policy' ? value || 'password' : value === '' ? null : value;

/** Formats the settings as attributes of the document. */
export const printOrganizationSettings = (
  settings: OrganizationSettings,
): Readonly<Record<WireName, unknown>> =>
  Object.fromEntries(WIRE_NAMES.map((name) => [name, settings[SETTING_OF[name]]])) as Record<
    WireName,
    unknown
  >;
