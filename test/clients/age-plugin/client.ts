import { equal, match } from 'node:assert/strict';
import { symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Agent, withAgent } from '../agent.ts';
import { type Bench, type Client, shell } from '../client.ts';
import { debianPackages } from '../debian.ts';
import { goInstall } from '../go.ts';

/** Of today; beside it, that of the distribution is tried. */
const today = '1.3.1';

const KEYS = { inbox: 'x25519', hybrid: 'mlkem768-x25519', tagged: 'p256' };

/** Lines with \`age\` as it is called here, the plugin, and the identities of the two keys in files. */
async function typed(
  bench: Bench,
  { environment, coffer }: Agent,
  lines: string,
  unlocked = true,
): Promise<string> {
  const [, program = ''] = bench.commandLine;
  await shell(bench, 'mkdir -p bin');
  await shell(bench, 'ln -sf "$PROGRAM" bin/age-plugin-coffer', { environment: { PROGRAM: program } });
  for (const key of Object.keys(KEYS)) {
    const named = JSON.parse(await coffer('agent', 'offer', key, '--age', '-o', 'json')) as Record<
      string,
      string
    >;
    await shell(
      bench,
      `echo ${named['identity']} > ${key}.txt; echo ${named['recipient']} > ${key}.pub; chmod 600 ${key}.txt`,
    );
  }
  const secret = unlocked ? { COFFER_MASTER_KEY: undefined } : {};
  return shell(bench, `export PATH=$PWD/bin:$PATH\necho 'a report' > report\n${lines}`, {
    environment: { ...environment, ...secret },
  });
}

const both = `
age -R inbox.pub -o report.age report
age -d -i inbox.txt report.age
age -d -j coffer report.age
age -e -i inbox.txt report | age -d -i inbox.txt
`;

const ofToday = `
age -R hybrid.pub -o hybrid.age report
age -d -i hybrid.txt hybrid.age
grep -c mlkem768x25519 hybrid.age
age -R plain.pub -o tagged.age report
age -d -i tagged.txt tagged.age
age -R tagged.pub report | age -d -i tagged.txt
`;

export const client: Client = {
  title: 'age with age-plugin-coffer',
  version: `${today} and Debian's 1.1.1`,
  minutes: 5,
  async install(machine) {
    const root = await debianPackages(machine, 'age', ['age']);
    const command = await goInstall(machine, `filippo.io/age/cmd/age@v${today}`, 'age');
    const link = join(machine.folder('debian/age/bin'), 'age-debian');
    await machine.run('ln', ['-sf', join(root, 'usr/bin/age'), link]);
    return command;
  },
  checks: {
    async 'writes and opens files, through the agent and without one'(bench) {
      await withAgent(bench, KEYS, async (agent) => {
        equal(await typed(bench, agent, both), 'a report\n'.repeat(3));
        equal(await typed(bench, agent, both, false), 'a report\n'.repeat(3));
        const plain = await agent.coffer('transit', 'keys', 'public', 'tagged', '--format', 'age');
        writeFileSync(join(bench.directory, 'plain.pub'), plain);
        equal(await typed(bench, agent, ofToday), 'a report\n1\na report\na report\n');
        await bench.refused('age', ['-R', 'inbox.pub', '-R', 'hybrid.pub', 'report'], {
          environment: agent.environment,
        });
      });
    },
    async 'opens what was written before a rotation, and writes for the latest version'(bench) {
      await withAgent(bench, KEYS, async (agent) => {
        await typed(bench, agent, 'age -R inbox.pub -o old.age report');
        await agent.coffer('transit', 'keys', 'rotate', 'inbox');
        equal(
          await typed(bench, agent, 'age -d -i inbox.txt old.age; age -R inbox.pub -o new.age report'),
          'a report\n',
        );
        await agent.coffer('transit', 'keys', 'config', 'inbox', '--min-decryption-version', '2');
        equal(
          await typed(
            bench,
            agent,
            'age -d -i inbox.txt new.age; age -d -i inbox.txt old.age 2>&1 || true',
          ).then((text) => text.split('\n')[0]),
          'a report',
        );
        match(await typed(bench, agent, 'age -d -i inbox.txt old.age 2>&1 || true'), /no identity matched/);
      });
    },
    async 'does the same with the age of Debian'(bench) {
      const debian = join(bench.installed, '../../../debian/age/bin/age-debian');
      symlinkSync(debian, join(bench.directory, 'debian'));
      await withAgent(bench, KEYS, async (agent) => {
        const lines = both.replaceAll(/\bage -/g, './debian -');
        equal(await typed(bench, agent, lines), 'a report\n'.repeat(3));
      });
    },
  },
};
