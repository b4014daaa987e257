/** Organization settings that are stored and returned for compatibility but have no effect. */
export interface OrganizationSettings {
  readonly aggregatedCommitStatusEnabled: boolean;
  readonly allowForceDeleteWorkspaces: boolean;
  readonly assessmentsEnforced: boolean;
  readonly collaboratorAuthPolicy: string;
  readonly costEstimationEnabled: boolean;
  readonly maxTtlEnabled: boolean;
  readonly ownersTeamSamlRoleId: string | null;
  readonly sendPassingStatusesForUntriggeredSpeculativePlans: boolean;
  /** In minutes. */
  readonly sessionRemember: number | null;
  /** In minutes. */
  readonly sessionTimeout: number | null;
  readonly speculativePlanManagementEnabled: boolean;
  readonly stacksEnabled: boolean;
  readonly userTokensEnabled: boolean;
}

/** Settings of a new organization, the same as in HashiCorp's service. */
export const DEFAULT_ORGANIZATION_SETTINGS: OrganizationSettings = {
  aggregatedCommitStatusEnabled: true,
  allowForceDeleteWorkspaces: false,
  assessmentsEnforced: false,
  collaboratorAuthPolicy: 'password',
  costEstimationEnabled: false,
  maxTtlEnabled: false,
  ownersTeamSamlRoleId: null,
  sendPassingStatusesForUntriggeredSpeculativePlans: false,
  sessionRemember: null,
  sessionTimeout: null,
  speculativePlanManagementEnabled: true,
  stacksEnabled: false,
  userTokensEnabled: true,
};

/** Applies a change, and drops settings that have their default value. */
export function changedOrganizationSettings(
  present: Partial<OrganizationSettings> | undefined,
  change: Partial<OrganizationSettings>,
): Partial<OrganizationSettings> | undefined {
  const usual: Readonly<Record<string, unknown>> = { ...DEFAULT_ORGANIZATION_SETTINGS };
  const kept = Object.entries({ ...present, ...change }).filter(([name, value]) => value !== usual[name]);
  return kept.length === 0 ? undefined : Object.fromEntries(kept);
}
