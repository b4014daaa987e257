import { equal, match } from 'node:assert/strict';
import { copyFileSync, existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Bench, type Client, type Machine, shell } from '../client.ts';
import { goInstall } from '../go.ts';
import { installTofu, tofuVersion } from '../tofu/install.ts';

const providerVersion = '0.80.0';

/** The module proxy does not have it for everybody; who has built it puts it where it would be. */
async function installProvider(machine: Machine): Promise<void> {
  const name = 'terraform-provider-tfe';
  if (existsSync(join(machine.folder('go/bin'), name))) return;
  await goInstall(machine, `github.com/hashicorp/${name}@v${providerVersion}`, name);
}

/** In a directory with the configuration, and where OpenTofu finds the provider without asking its registry. */
async function tofu(bench: Bench, lines: string): Promise<string> {
  const rc = join(bench.directory, 'tofu.rc');
  const override = `dev_overrides { "hashicorp/tfe" = ${JSON.stringify(join(bench.installed, '..'))} }`;
  writeFileSync(rc, `provider_installation {\n  ${override}\n  direct {}\n}\n`);
  copyFileSync(fileURLToPath(new URL('main.tf', import.meta.url)), join(bench.directory, 'main.tf'));
  const environment = {
    TF_CLI_CONFIG_FILE: rc,
    TF_CLI_ARGS: '-no-color',
    CHECKPOINT_DISABLE: '1',
    TF_VAR_hostname: new URL(bench.address).host,
  };
  return shell(bench, lines, { environment });
}

export const client: Client = {
  title: 'Terraform’s provider for Terraform Enterprise',
  version: `${providerVersion} with OpenTofu ${tofuVersion}`,
  minutes: 10,
  secure: true,
  async install(machine) {
    await installProvider(machine);
    return installTofu(machine);
  },
  checks: {
    async 'makes an organization, projects and workspaces with both kinds of tags, plans no change, and destroys them'(
      bench,
    ) {
      const output = await tofu(
        bench,
        `tofu apply -auto-approve -input=false
        tofu plan -detailed-exitcode -input=false
        tofu destroy -auto-approve -input=false`,
      );
      match(output, /^Apply complete! Resources: 6 added, 0 changed, 0 destroyed\.$/m);
      match(output, /^No changes\./m);
      match(output, /^Destroy complete! Resources: 6 destroyed\.$/m);
      equal(await bench.coffer(['orgs', 'list']), '');
    },
    async 'finds workspaces by tags of both kinds, and the tags of the organization'(bench) {
      await tofu(bench, 'tofu apply -auto-approve -input=false');
      equal(await tofu(bench, 'tofu output -json by_name'), '["billing-prod"]\n');
      equal(await tofu(bench, 'tofu output -json by_key'), '["web-prod"]\n');
      equal(await tofu(bench, 'tofu output -json by_project_key'), '["billing-prod"]\n');
      equal(await tofu(bench, 'tofu output -json pool'), '["app:billing","env:prod","env:test"]\n');
      await tofu(bench, 'tofu destroy -auto-approve -input=false');
    },
    async 'changes tags, keys, names and projects, and plans no change'(bench) {
      const output = await tofu(
        bench,
        `tofu apply -auto-approve -input=false
        export TF_VAR_env=stage TF_VAR_project=other TF_VAR_suffix=-2
        tofu apply -auto-approve -input=false
        tofu plan -detailed-exitcode -input=false
        tofu destroy -auto-approve -input=false`,
      );
      match(output, /^Apply complete! Resources: 0 added, [1-9] changed, 0 destroyed\.$/m);
      match(output, /^No changes\./m);
    },
  },
};
