import { equal, match } from 'node:assert/strict';
import { withAgent } from '../agent.ts';
import { type Bench, type Client, shell } from '../client.ts';
import { goInstall, goModule } from '../go.ts';

/** Of age, with whose package for plugins the plugin beside this file is written. */
const version = '1.3.1';

/**
 * Lines of Alice, who has founded a keyring with an SSH key, and Bob, each in a clone, with \`alice\` and \`bob\` for our own
 * command in it and \`share\` for what git does between them. No server, and no store.
 */
function team(
  bench: Bench,
  lines: string,
  environment: Readonly<Record<string, string>> = {},
): Promise<string> {
  const own = bench.commandLine.map((word) => `'${word}'`).join(' ');
  return shell(
    bench,
    `unset COFFER_ADDR COFFER_TOKEN VAULT_ADDR VAULT_TOKEN COFFER_MASTER_KEY COFFER_STORE
    export PATH=$PWD/bin:$PATH GIT_CONFIG_GLOBAL=/dev/null
    as() { local name=$1; shift; (cd $name/clone && HOME=$TOP/$name USER=$name XDG_STATE_HOME=$TOP/$name/state "$@"); }
    alice() { as alice ${own} "$@"; }
    bob() { as bob env COFFER_IDENTITY_FILE=$TOP/bob.txt ${own} "$@"; }
    git() { command git -c user.name=x -c user.email=x@example.org "$@"; }
    share() {
      (cd $1/clone && git add -A && git commit -qm change && git push -q origin HEAD:main)
      (cd $2/clone && git pull -q --no-rebase origin main)
    }
    TOP=$PWD
    git init -q --bare -b main remote.git
    for name in alice bob; do mkdir -p $name/.ssh && git clone -q remote.git $name/clone 2>/dev/null; done
    ssh-keygen -q -t ed25519 -N '' -f alice/.ssh/id_ed25519
    alice team init -q
    printf 'rules:\\n  - files: "*.env"\\n    key: app\\n' > alice/clone/.coffer.yaml
    printf s3cret | alice secrets set -q app.env DB
    ${lines}`,
    { environment },
  );
}

/** Bob is let in with the key in \`bob.txt\`, opens and encrypts, and is removed. */
const day = `
    chmod 600 bob.txt
    id=$(alice team add bob $(sed -n 's/^# public key: //p' bob.txt) -o json | sed -n 's/.*"trust": *"\\([^"]*\\)".*/\\1/p')
    share alice bob
    bob team trust -q $id
    bob exec -q -f app.env -- printenv DB
    printf of-bob | bob secrets set -q app.env DB
    share bob alice
    alice secrets get -q app.env DB; echo
    alice team remove -q bob --yes
    printf new | alice secrets set -q app.env DB
    share alice bob
    (bob secrets get app.env DB 2>&1 || true) | grep -o 'none of your keys[^(]*version 2'`;

const seen = 's3cret\nof-bob\nnone of your keys opens version 2\n';

export const client: Client = {
  title: "plugins written with age's own package, in a team's keyring",
  version,
  minutes: 5,
  async install(machine) {
    await goInstall(machine, `filippo.io/age/cmd/age-plugin-batchpass@v${version}`, 'age-plugin-batchpass');
    await goInstall(machine, `filippo.io/age/cmd/age@v${version}`, 'age');
    return goModule(machine, 'age-plugin-gopher');
  },
  checks: {
    async 'has a member with its key open, encrypt and leave'(bench) {
      equal(await team(bench, `age-plugin-gopher -generate > bob.txt${day}`), seen);
    },
    async 'founds a keyring, changes it, and is asked for its PIN once a command'(bench) {
      const lines = `
        age-plugin-gopher -generate -pin > bob.txt && chmod 600 bob.txt
        printf '#!/bin/sh\\necho asked >> %s/asked\\necho 4711\\n' $TOP > askpass && chmod +x askpass
        export SSH_ASKPASS=$TOP/askpass SSH_ASKPASS_REQUIRE=force
        rm -rf bob/clone/.coffer && bob team init -q
        cp alice/clone/.coffer.yaml bob/clone && printf hers | bob secrets set -q app.env DB
        bob team add -q carol "$(ssh-keygen -y -f alice/.ssh/id_ed25519)"
        bob team remove -q carol --yes
        : > asked
        bob exec -q -f app.env -- printenv DB
        wc -l < asked`;
      equal((await team(bench, lines)).replace(/ /g, ''), 'hers\n1\n');
    },
    async 'opens a local store, and files that age has encrypted for it'(bench) {
      const lines = `
        age-plugin-gopher -generate > bob.txt && chmod 600 bob.txt
        export COFFER_STORE=$TOP/store
        bob init -q --recipient "$(sed -n 's/^# public key: //p' bob.txt)"
        bob transit keys create -q orders && bob transit keys list
        echo 'a report' | age -r $(sed -n 's/^# public key: //p' bob.txt) -o report.age
        bob transit envelope decrypt --identity $TOP/bob.txt --in $TOP/report.age
        echo 'a reply' | bob transit envelope encrypt --recipient $(sed -n 's/^# public key: //p' bob.txt) --out $TOP/reply.age
        age -d -i bob.txt reply.age`;
      equal(await team(bench, lines), 'orders\na report\na reply\n');
    },
    async 'is no member by a passphrase alone, which age-plugin-batchpass has in place of a public key'(
      bench,
    ) {
      const lines = `
        export AGE_PASSPHRASE='correct horse'
        (alice team add bob AGE-PLUGIN-BATCHPASS-1JCS0Q9 2>&1 || true)
        (alice team add bob age1batchpass1s48w5f 2>&1 || true)
        alice team -o json | grep -c bob || true`;
      const said = await team(bench, lines);
      match(said, /not a public key of a supported type/);
      match(said, /age-plugin-batchpass exited early/);
      match(said, /\n0\n$/);
    },
    async 'may be ours, for a member whose key is in a store'(bench) {
      await withAgent(bench, { inbox: 'x25519', tagged: 'p256' }, async (agent) => {
        const [, program = ''] = bench.commandLine;
        await shell(bench, 'mkdir -p bin && ln -sf "$PROGRAM" bin/age-plugin-coffer', {
          environment: { PROGRAM: program },
        });
        for (const key of ['inbox', 'tagged']) {
          const named = JSON.parse(await agent.coffer('agent', 'offer', key, '--age', '-o', 'json')) as {
            readonly identity: string;
          };
          const recipient = await agent.coffer('transit', 'keys', 'public', key, '--format', 'age');
          await shell(bench, 'rm -rf alice bob remote.git');
          const lines = `export COFFER_STORE=$STORE
            printf '# public key: %s\\n%s\\n' $RECIPIENT $IDENTITY > bob.txt${day}`;
          const { XDG_RUNTIME_DIR = '', COFFER_STORE: STORE = '' } = agent.environment;
          const environment = {
            XDG_RUNTIME_DIR,
            STORE,
            RECIPIENT: recipient.trim(),
            IDENTITY: named.identity,
          };
          equal(await team(bench, lines, environment), seen);
        }
      });
    },
  },
};
