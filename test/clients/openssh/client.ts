import { equal, match } from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { type Agent, withAgent } from '../agent.ts';
import { type Bench, type Client, shell, Unavailable } from '../client.ts';
import { debianPackages } from '../debian.ts';

/** That of Debian 12. */
const version = '9.2p1';

const KEYS = { laptop: 'ed25519', work: 'ecdsa-p384', old: 'rsa-3072' };

const lines = `
coffer agent offer laptop --ssh
eval "$(coffer agent env --ssh)"
ssh-add -L | ssh-keygen -l -f -
`;

/** Lines with our own command as \`coffer\`, and the agent. */
function typed(bench: Bench, { environment }: Agent, text: string): Promise<string> {
  const own = bench.commandLine.map((word) => `'${word}'`).join(' ');
  return shell(bench, `coffer() { ${own} "$@"; }\n${text}`, { environment });
}

const freePort = async (): Promise<number> => {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  if (address === null || typeof address === 'string') throw new Error('there is no port');
  return address.port;
};

/** In a namespace of its own, where the user is that it wants, and the directory that it gives up its rights in. */
const START = `
mount --bind "$1" /etc/passwd
mount -t tmpfs none /run
mkdir -p /run/sshd
exec "$2" -D -e -f "$3"
`;

/**
 * The server of the distribution, which takes the keys of a file, on loopback.
 * @param settings further lines of its configuration
 */
async function withServer(
  bench: Bench,
  work: (ssh: string) => Promise<void>,
  settings: readonly string[] = [],
): Promise<void> {
  const at = (name: string): string => join(bench.directory, name);
  const root = join(bench.installed, '../../..');
  await shell(bench, 'ssh-keygen -q -t ed25519 -N "" -f host_key');
  const port = await freePort();
  writeFileSync(
    at('sshd_config'),
    [
      `Port ${port}`,
      'ListenAddress 127.0.0.1',
      `HostKey ${at('host_key')}`,
      `AuthorizedKeysFile ${at('authorized_keys')}`,
      'UsePAM no',
      'StrictModes no',
      'PermitRootLogin yes',
      'PidFile none',
      'AllowAgentForwarding yes',
      ...settings,
      '',
    ].join('\n'),
  );
  copyFileSync('/etc/passwd', at('passwd'));
  if (!/^sshd:/m.test(readFileSync(at('passwd'), 'utf8'))) {
    writeFileSync(at('passwd'), 'sshd:x:65533:65534::/run/sshd:/usr/sbin/nologin\n', { flag: 'a' });
  }
  const child = spawn(
    'unshare',
    ['-m', 'sh', '-ec', START, 'sh', at('passwd'), bench.installed, at('sshd_config')],
    {
      env: {
        ...process.env,
        LD_LIBRARY_PATH: ['lib', 'usr/lib'].map((lib) => join(root, lib, 'x86_64-linux-gnu')).join(':'),
      },
      stdio: ['ignore', 'ignore', 'pipe'],
    },
  );
  try {
    await listens(child);
    const options = '-F none -o StrictHostKeyChecking=no -o UserKnownHostsFile=known_hosts -o BatchMode=yes';
    await work(`ssh ${options} -p ${port} root@127.0.0.1`);
  } finally {
    // Sessions that it has begun hold its standard error, and end by themselves.
    child.stderr?.destroy();
    if (child.kill('SIGKILL')) await once(child, 'exit');
  }
}

async function listens(child: ChildProcess): Promise<void> {
  let said = '';
  const ready = Promise.withResolvers<void>();
  child.stderr?.on('data', (text: Buffer) => {
    said += text.toString();
    if (said.includes('Server listening')) ready.resolve();
  });
  child.once('exit', () =>
    ready.reject(new Unavailable(`sshd does not run here: ${said.trim().split('\n').at(-1)}`)),
  );
  await ready.promise;
}

export const client: Client = {
  title: 'OpenSSH',
  version,
  minutes: 5,
  async install(machine) {
    for (const program of ['ssh', 'git', 'unshare']) await machine.need('which', [program]);
    const root = await debianPackages(machine, 'openssh-server', [
      'openssh-server',
      'libwrap0',
      'p11-kit-modules',
    ]);
    return join(root, 'usr/sbin/sshd');
  },
  checks: {
    async 'lists what is offered, and nothing else'(bench) {
      await withAgent(bench, KEYS, async (agent) => {
        match(await typed(bench, agent, lines), /^256 SHA256:\S+ laptop \(ED25519\)\n$/);
        equal(
          await typed(bench, agent, 'coffer agent withdraw laptop; ssh-add -l || echo $?'),
          'The agent has no identities.\n1\n',
        );
      });
    },
    async 'logs in with each kind of key, also after a rotation and through another machine'(bench) {
      await withAgent(bench, KEYS, async (agent) => {
        await withServer(bench, async (ssh) => {
          for (const name of Object.keys(KEYS)) {
            await agent.coffer('agent', 'offer', name, '--ssh');
            equal(await typed(bench, agent, `ssh-add -L > authorized_keys; ${ssh} echo in`), 'in\n');
            await agent.coffer('transit', 'keys', 'rotate', name, '--force');
            equal(await typed(bench, agent, `${ssh} echo in`), 'in\n');
            const forwarded = `${ssh.replace('ssh ', 'ssh -A ')} 'ssh-add -T authorized_keys 2>&1; ssh-keygen -Y sign -n file -f ${bench.directory}/authorized_keys < /dev/null 2>&1 > /dev/null || echo refused'`;
            match(await typed(bench, agent, forwarded), /refused\n$/);
            await agent.coffer('agent', 'withdraw', name);
            await bench.refused('bash', ['-c', `${ssh} echo in`], { environment: agent.environment });
          }
        });
      });
    },
    async 'logs in with a certificate of each kind of key, on a host with a certificate'(bench) {
      await shell(bench, 'ssh-keygen -q -t ed25519 -N "" -f issuer');
      await shell(
        bench,
        'ssh-keygen -q -t ed25519 -N "" -f certified && ssh-keygen -q -s issuer -I h -h certified.pub',
      );
      const at = (name: string): string => join(bench.directory, name);
      const settings = [
        `HostKey ${at('certified')}`,
        `HostCertificate ${at('certified-cert.pub')}`,
        `TrustedUserCAKeys ${at('issuer.pub')}`,
        'HostKeyAlgorithms ssh-ed25519-cert-v01@openssh.com',
      ];
      const withCertificates = async (agent: Agent, ssh: string): Promise<void> => {
        for (const name of Object.keys(KEYS)) {
          await agent.coffer('agent', 'offer', name, '--ssh');
          const named = `-o IdentitiesOnly=yes -o IdentityFile=${name}.pub -o CertificateFile=${name}-cert.pub`;
          const login = `ssh-add -L | grep ' ${name}$' > ${name}.pub
            ssh-keygen -q -s issuer -I me -n root ${name}.pub
            ${ssh.replace('ssh ', `ssh -v ${named} `)} echo in 2> said; grep -c 'bound agent to hostkey' said`;
          equal(await typed(bench, agent, login), 'in\n1\n');
        }
      };
      await withAgent(bench, KEYS, (agent) =>
        withServer(bench, (ssh) => withCertificates(agent, ssh), settings),
      );
    },
    async 'logs in with keys of the token of PKCS #11'(bench) {
      await withAgent(bench, KEYS, async (agent) => {
        const module = join(bench.installed, '../../lib/x86_64-linux-gnu/pkcs11/p11-kit-client.so');
        await withServer(bench, async (ssh) => {
          for (const name of ['work', 'old']) {
            await agent.coffer('agent', 'offer', name, '--pkcs11');
            const login = `ssh-keygen -D ${module} > authorized_keys; ${ssh.replace('ssh ', `ssh -o PKCS11Provider=${module} `)} echo in`;
            equal(await typed(bench, agent, login), 'in\n');
            await agent.coffer('agent', 'withdraw', name);
          }
        });
      });
    },
    async 'signs files that ssh-keygen verifies'(bench) {
      await withAgent(bench, KEYS, async (agent) => {
        for (const name of Object.keys(KEYS)) await agent.coffer('agent', 'offer', name, '--ssh');
        const signing = `echo hello > file
          for name in laptop work old; do
            ssh-add -L | grep " $name$" > $name.pub
            ssh-keygen -q -Y sign -U -n file -f $name.pub < file > file.sig
            echo "me $(cat $name.pub)" > signers
            ssh-keygen -Y verify -f signers -I me -n file -s file.sig < file
          done`;
        equal((await typed(bench, agent, signing)).match(/Good "file" signature for me/g)?.length, 3);
      });
    },
    async 'closes and opens with ssh-add -x and -X'(bench) {
      await withAgent(bench, KEYS, async (agent) => {
        await agent.coffer('agent', 'offer', 'laptop', '--ssh');
        const answering = `printf '#!/bin/sh\\necho "$ANSWER"\\n' > ask && chmod +x ask
          export SSH_ASKPASS=$PWD/ask SSH_ASKPASS_REQUIRE=force
          ANSWER=secret ssh-add -x; ssh-add -l || true
          ANSWER=other ssh-add -X || true; ssh-add -l || true
          ANSWER=secret ssh-add -X; ssh-add -l`;
        const [closed, other, opened] = (await typed(bench, agent, answering)).trim().split('\n');
        equal(closed, 'The agent has no identities.');
        equal(other, 'The agent has no identities.');
        match(opened ?? '', /laptop/);
      });
    },
    async 'signs commits and tags of git, and pushes them'(bench) {
      await withAgent(bench, KEYS, async (agent) => {
        await agent.coffer('agent', 'offer', 'laptop', '--ssh');
        await withServer(bench, async (ssh) => {
          const { pathname } = new URL(`file://${bench.directory}`);
          const [program, address] = [
            ssh.slice(0, ssh.lastIndexOf(' ')),
            ssh.slice(ssh.lastIndexOf(' ') + 1),
          ];
          const work = `ssh-add -L > authorized_keys
            git init -q --bare there.git && git init -q -b main here && cd here
            git config user.name me && git config user.email me@example.org
            git config gpg.format ssh && git config user.signingkey "key::$(ssh-add -L)"
            echo "me@example.org $(ssh-add -L)" > ../signers
            git config gpg.ssh.allowedSignersFile ../signers
            git config core.sshCommand "${program.replace('known_hosts', `${pathname}/known_hosts`)}"
            echo hello > file && git add file && git commit -q -S -m first && git tag -s -m one v1
            git push -q ${address}:${pathname}/there.git main v1
            cd .. && git clone -q -b main there.git back && cd back
            git config gpg.format ssh && git config gpg.ssh.allowedSignersFile ../signers
            git verify-commit HEAD 2>&1; git verify-tag v1 2>&1`;
          const verified = await typed(bench, agent, work);
          equal(verified.match(/Good "git" signature for me@example.org/g)?.length, 2);
        });
      });
    },
  },
};
