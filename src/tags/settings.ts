import { ownWords } from '../ground/errors.ts';
import { refused } from './names.ts';

const none = <T>(): T | null => null;
const noTexts: readonly string[] = [];

/** Settings of a new workspace, the same as in HashiCorp's service. */
export const DEFAULT_SETTINGS = {
  allowDestroyPlan: true,
  assessmentsEnabled: false,
  autoApply: false,
  autoApplyRunTrigger: false,
  /** ISO 8601 time as the client wrote it. */
  autoDestroyAt: none<string>(),
  autoDestroyActivityDuration: none<string>(),
  fileTriggersEnabled: true,
  globalRemoteState: false,
  inheritsProjectAutoDestroy: true,
  projectRemoteState: false,
  queueAllRuns: false,
  sourceName: none<string>(),
  sourceUrl: none<string>(),
  speculativeEnabled: true,
  structuredRunOutputEnabled: true,
  // Nothing is ever run: clients interpret it as their own version.
  /** Version, constraint, or `latest`. */
  terraformVersion: 'latest',
  triggerPatterns: noTexts,
  triggerPrefixes: noTexts,
  workingDirectory: '',
};

/**
 * Workspace settings that are stored and returned for compatibility but have no effect, because nothing is run here.
 */
export type WorkspaceSettings = Readonly<typeof DEFAULT_SETTINGS>;

/**
 * Place where runs would execute. A workspace without one inherits it from its project, and that from the organization.
 */
export type ExecutionMode = 'remote' | 'local';

export const DEFAULT_EXECUTION_MODE: ExecutionMode = 'remote';

const CONSTRAINT = /^(?:[<>]=?|!=|=|~>)?\s*\d+(?:\.\d+){0,2}(?:-[0-9A-Za-z.-]+)?$/;
const MAX_VERSION_LENGTH = 100;
const DURATION = /^[1-9]\d{0,3}[dh]$/;
/** ISO 8601 with seconds: other forms are ambiguous. */
const TIME = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(?:\.\d+)?(?:Z|[+-]\d{2}:\d{2})$/;

/**
 * Applies a change, and drops settings that have their default value, so that a workspace without settings takes no
 * space.
 * @param fieldOf place of a setting in the request, for errors
 * @throws `invalid` for a violated rule
 */
export function changedSettings(
  present: Partial<WorkspaceSettings> | undefined,
  change: Partial<WorkspaceSettings>,
  fieldOf: (setting: keyof WorkspaceSettings) => string,
): Partial<WorkspaceSettings> | undefined {
  checkSettings(change, fieldOf);
  if ((change.triggerPatterns?.length ?? 0) > 0 && (change.triggerPrefixes?.length ?? 0) > 0) {
    throw refused(
      ownWords('Trigger patterns cannot be set together with trigger prefixes'),
      'use only one of the two lists',
      fieldOf('triggerPatterns'),
    );
  }
  const asked = withoutOthers(change);
  const merged: Partial<WorkspaceSettings> = { ...present, ...asked, ...inheritance(present, asked) };
  if ((change.triggerPatterns?.length ?? 0) > 0 && merged.fileTriggersEnabled === false) {
    throw refused(
      ownWords("'trigger_patterns' cannot be populated when 'file_triggers_enabled' is set to false."),
      'set file-triggers-enabled to true, or give no patterns',
      fieldOf('triggerPatterns'),
    );
  }
  return withoutDefaults(merged, DEFAULT_SETTINGS);
}

/** Drops settings that have their default value; undefined if no other one is left. */
function withoutDefaults<S extends object>(settings: Partial<S>, defaults: S): Partial<S> | undefined {
  const usual = new Map<string, unknown>(Object.entries(defaults));
  const isEmpty = (value: unknown): boolean => Array.isArray(value) && value.length === 0;
  const kept = Object.entries(settings).filter(
    ([name, value]) => value !== usual.get(name) && !(isEmpty(value) && isEmpty(usual.get(name))),
  );
  return kept.length === 0 ? undefined : (Object.fromEntries(kept) as Partial<S>);
}

/**
 * Resets the other one of two mutually exclusive settings, as HashiCorp's service does: Terraform's provider sends only
 * the one that it has, and resetting one counts as well.
 */
function withoutOthers(change: Partial<WorkspaceSettings>): Partial<WorkspaceSettings> {
  const { triggerPatterns, triggerPrefixes, autoDestroyAt, autoDestroyActivityDuration } = change;
  const others: { -readonly [K in keyof WorkspaceSettings]?: WorkspaceSettings[K] } = {};
  if (triggerPrefixes !== undefined) others.triggerPatterns = [];
  if (triggerPatterns !== undefined) others.triggerPrefixes = [];
  if (autoDestroyAt !== undefined) others.autoDestroyActivityDuration = null;
  if (typeof autoDestroyActivityDuration === 'string') others.autoDestroyAt = null;
  return { ...others, ...change };
}

/**
 * Decides whether a change of auto-destroy times without an explicit choice makes them the workspace's own: only while
 * it has any, as in HashiCorp's service.
 */
function inheritance(
  present: Partial<WorkspaceSettings> | undefined,
  change: Partial<WorkspaceSettings>,
): Partial<WorkspaceSettings> {
  const isSaid =
    change.inheritsProjectAutoDestroy !== undefined ||
    (change.autoDestroyAt === undefined && change.autoDestroyActivityDuration === undefined);
  if (isSaid) return {};
  const { autoDestroyAt: at = null, autoDestroyActivityDuration: duration = null } = {
    ...present,
    ...change,
  };
  return { inheritsProjectAutoDestroy: at === null && duration === null };
}

const isVersion = (text: string): boolean =>
  text === 'latest' ||
  (text.length <= MAX_VERSION_LENGTH && text.split(',').every((part) => CONSTRAINT.test(part.trim())));

function checkSettings(
  change: Partial<WorkspaceSettings>,
  fieldOf: (setting: keyof WorkspaceSettings) => string,
): void {
  const { terraformVersion, autoDestroyAt, autoDestroyActivityDuration } = change;
  if (terraformVersion !== undefined && !isVersion(terraformVersion)) {
    throw refused(
      ownWords('Terraform version is invalid'),
      'use a version such as 1.9.5, a constraint such as ~> 1.9.0, or latest',
      fieldOf('terraformVersion'),
    );
  }
  if (
    typeof autoDestroyAt === 'string' &&
    (!TIME.test(autoDestroyAt) || Number.isNaN(Date.parse(autoDestroyAt)))
  ) {
    throw refused(
      ownWords('Auto destroy at is invalid'),
      'use a time such as 2026-01-31T12:00:00Z',
      fieldOf('autoDestroyAt'),
    );
  }
  checkDuration(autoDestroyActivityDuration, fieldOf('autoDestroyActivityDuration'));
}

/**
 * Validates a duration.
 * @throws `invalid`, with the exact text of HashiCorp's service
 */
export function checkDuration(duration: string | null | undefined, field: string): void {
  if (duration === undefined || duration === null || DURATION.test(duration)) return;
  throw refused(
    ownWords(
      "Auto destroy activity duration has an incorrect format, we expect up to 4 numeric digits and 1 unit ('d' or 'h')",
    ),
    'for example 14d',
    field,
  );
}

/** To the letter of the service that clients know. */
/** Settings of a new organization, the same as in HashiCorp's service. */
export const DEFAULT_ORGANIZATION_SETTINGS = {
  aggregatedCommitStatusEnabled: true,
  allowForceDeleteWorkspaces: false,
  assessmentsEnforced: false,
  collaboratorAuthPolicy: 'password',
  costEstimationEnabled: false,
  maxTtlEnabled: false,
  ownersTeamSamlRoleId: none<string>(),
  sendPassingStatusesForUntriggeredSpeculativePlans: false,
  /** In minutes. */
  sessionRemember: none<number>(),
  /** In minutes. */
  sessionTimeout: none<number>(),
  speculativePlanManagementEnabled: true,
  stacksEnabled: false,
  userTokensEnabled: true,
};

/** Organization settings that are stored and returned for compatibility but have no effect. */
export type OrganizationSettings = Readonly<typeof DEFAULT_ORGANIZATION_SETTINGS>;

/** Applies a change, and drops settings that have their default value. */
export function changedOrganizationSettings(
  present: Partial<OrganizationSettings> | undefined,
  change: Partial<OrganizationSettings>,
): Partial<OrganizationSettings> | undefined {
  return withoutDefaults({ ...present, ...change }, DEFAULT_ORGANIZATION_SETTINGS);
}
