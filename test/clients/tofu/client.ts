import { equal, match } from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Bench, type Client, shell, Unavailable } from '../client.ts';
import { installTofu, tofuVersion } from './install.ts';

const ORGANIZATION = 'acme';

/** In a directory with a `cloud` block, and with the token where the command looks for it. */
async function cloud(bench: Bench, workspaces: string, lines: string, input = ''): Promise<string> {
  const host = new URL(bench.address).host;
  const rc = join(bench.directory, 'cli.tfrc');
  writeFileSync(rc, `credentials ${JSON.stringify(host)} {\n  token = ${JSON.stringify(bench.token)}\n}\n`);
  writeFileSync(
    join(bench.directory, 'main.tf'),
    `terraform {
  cloud {
    hostname     = ${JSON.stringify(host)}
    organization = "${ORGANIZATION}"
    workspaces {
      ${workspaces}
    }
  }
}
`,
  );
  await bench.coffer(['orgs', 'create', ORGANIZATION, '--if-missing']);
  const environment = { TF_CLI_CONFIG_FILE: rc, TF_CLI_ARGS: '-no-color', CHECKPOINT_DISABLE: '1' };
  return shell(bench, lines, { environment, input });
}

const tagsOf = (bench: Bench, workspace: string): Promise<string> =>
  bench.coffer(['tags', 'of', workspace, '--org', ORGANIZATION]);

/** The same of both commands; the list of tags is the older form. */
async function byTags(bench: Bench, command: string): Promise<void> {
  const name = `${command}-billing`;
  const tags = `tags = ["app:${command}", "team:core"]`;
  await cloud(bench, tags, `${command} init`, `${name}-dev\n`);
  const output = await cloud(
    bench,
    tags,
    `${command} workspace new ${name}-prod
    ${command} workspace list
    ${command} workspace select ${name}-dev
    ${command} workspace show`,
  );
  match(output, new RegExp(`^  ${name}-dev\n\\* ${name}-prod$`, 'm'));
  equal(output.trim().split('\n').at(-1), `${name}-dev`);
  equal(await tagsOf(bench, `${name}-prod`), `app:${command}\nteam:core\n`);
}

async function refusesStates(bench: Bench, command: string): Promise<void> {
  const output = await cloud(
    bench,
    `name = "${command}-alone"`,
    `${command} init
    ${command} plan 2>&1 || true`,
  );
  match(
    output.replace(/\s+/g, ' '),
    /but not states or locks: store the state of this configuration in another backend/,
  );
}

/** Terraform is in no registry of programs: it is there, or it is not tried. */
async function needTerraform(bench: Bench): Promise<void> {
  await bench.run('terraform', ['version']).catch(() => {
    throw new Unavailable('terraform is not installed');
  });
}

export const client: Client = {
  title: 'OpenTofu',
  version: tofuVersion,
  minutes: 10,
  secure: true,
  install: installTofu,
  checks: {
    'finds, makes and selects workspaces by tags': (bench) => byTags(bench, 'tofu'),
    'is told in a sentence that there are no states': (bench) => refusesStates(bench, 'tofu'),
    async 'makes the project that a configuration names'(bench) {
      await cloud(bench, 'tags = ["app:shop"]\n      project = "Shop"', 'tofu init', 'shop-dev\n');
      match(await bench.coffer(['projects', 'list', '--org', ORGANIZATION]), /^Shop$/m);
    },
    async 'leaves Terraform the same, where it is installed'(bench) {
      await needTerraform(bench);
      await byTags(bench, 'terraform');
      await refusesStates(bench, 'terraform');
    },
    async 'lets Terraform find workspaces by keys and values, where it is installed'(bench) {
      await needTerraform(bench);
      const tags = 'tags = { env = "prod", app = "map" }';
      await cloud(bench, tags, 'terraform init', 'map-one\n');
      const output = await cloud(bench, tags, 'terraform workspace new map-two\nterraform workspace list');
      match(output, /^ {2}map-one\n\* map-two$/m);
      await bench.coffer(['workspaces', 'create', 'map-other', '--org', ORGANIZATION]);
      equal((await cloud(bench, tags, 'terraform workspace list')).includes('map-other'), false);
    },
  },
};
