import { dirname, join } from 'node:path';
import type { Bench, Client } from '../client.ts';
import { goTests } from '../go.ts';
import { startBilling } from './billing.ts';

const module = 'github.com/hashicorp/go-tfe';
const version = '1.111.2';

/**
 * Tests of go-tfe's own, compiled as they are. Some give their organization a plan of the paid service first: `startBilling` answers that, and hands
 * on everything else.
 * @param passed how many, parts of tests included: one that is skipped would pass as well
 * @param without what needs runs, states, locks, agents or keys of one's own
 */
const ownTests =
  (names: string, passed: number, without: string = NOTHING) =>
  async ({ run, installed, address, token }: Bench): Promise<void> => {
    const billing = await startBilling(address);
    try {
      const parameters = ['-test.v', `-test.run=^(${names})$`, `-test.skip=${without}`];
      const said = await run(installed, parameters, {
        directory: join(dirname(installed), 'source'),
        environment: {
          TFE_ADDRESS: billing.address,
          TFE_ADMIN_PROVISION_LICENSES_TOKEN: token,
          ENABLE_BETA: '1',
        },
      });
      const count = said.match(/^ *--- PASS/gm)?.length ?? 0;
      if (count !== passed) throw new Error(`${count} passed, not ${passed}:\n${said}`);
    } finally {
      await billing.stop();
    }
  };

const NOTHING = '^$';

export const client: Client = {
  title: 'go-tfe, with tests of its own',
  version,
  minutes: 15,
  install: (machine) => goTests(machine, module, `v${version}`),
  checks: {
    'holds its tests of the tags of organizations': ownTests('TestOrganizationTags.*', 23),
    'holds its tests of the tags and keys of workspaces': ownTests(
      'TestWorkspaces_(AddTags|RemoveTags|DeleteAllTagBindings|effectiveTagBindingsInheritedFrom)|TestWorkspacesAddTagBindings',
      17,
    ),
    'holds its tests of the keys of projects': ownTests(
      'TestProjectsAddTagBindings|TestProjects_DeleteAllTagBindings',
      4,
    ),
    'holds its tests of reserved keys': ownTests('TestReservedTagKeys.*', 21),
    'holds its tests of listing and reading workspaces': ownTests(
      'TestWorkspacesList_RunDependent|TestWorkspacesRead|TestWorkspacesReadByID|TestWorkspacesProjects',
      32,
      '/current-run|/current_run|/hyok|/inheriting_the_default',
    ),
    'holds its tests of deleting workspaces': ownTests(
      'TestWorkspaces(Safe)?Delete(ByID)?|TestCanForceDeletePermission',
      16,
      '/is_locked|/under_management',
    ),
    'holds its tests of the workspaces that may read a state': ownTests(
      'TestWorkspaces_(Add|Remove|Update)RemoteStateConsumers',
      12,
    ),
    'holds its tests of projects': ownTests(
      'TestProjects(List|Read|ReadWithOptions|Delete)',
      16,
      // The last one wants the default project behind the others; Terraform's provider wants it first.
      '/agent|/inheriting_the_default|/when_including_effective_tags_relationship',
    ),
  },
};
