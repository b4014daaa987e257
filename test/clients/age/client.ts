import { equal, match } from 'node:assert/strict';
import { type Bench, type Client, shell } from '../client.ts';
import { goInstall } from '../go.ts';

const version = '1.3.1';

const lines = `
age -r $(coffer transit keys public inbox --format age) -o report.age report
coffer transit envelope decrypt inbox --in report.age
`;

/** Keys \`inbox\` and \`hybrid\`, a friend's with both halves, and our own command as \`coffer\`. */
async function start(bench: Bench): Promise<void> {
  const own = bench.commandLine.map((word) => `'${word}'`).join(' ');
  await shell(
    bench,
    `mkdir -p bin && printf '#!/bin/sh\\nexec %s "$@"\\n' "$OWN" > bin/coffer && chmod +x bin/coffer
    echo 'for others' > report
    age-keygen -o friend.txt && age-keygen -y friend.txt > friend.pub
    age-keygen -pq -o quantum.txt && age-keygen -y quantum.txt > quantum.pub
    chmod 600 friend.txt quantum.txt`,
    { environment: { OWN: own } },
  );
  await bench.coffer(['transit', 'keys', 'create', 'inbox', '--type', 'x25519']);
  await bench.coffer(['transit', 'keys', 'create', 'hybrid', '--type', 'mlkem768-x25519']);
  await bench.coffer(['transit', 'keys', 'create', 'tagged', '--type', 'p256']);
  await bench.coffer(['transit', 'keys', 'create', 'tagged-pq', '--type', 'mlkem768-p256']);
}

const withCoffer = (bench: Bench, typed: string): Promise<string> =>
  shell(bench, `export PATH=$PWD/bin:$PATH COFFER_ADDR=$VAULT_ADDR COFFER_TOKEN=$VAULT_TOKEN\n${typed}`);

export const client: Client = {
  title: 'age',
  version,
  minutes: 5,
  async install(machine) {
    await goInstall(machine, `filippo.io/age/cmd/age-keygen@v${version}`, 'age-keygen');
    await goInstall(machine, `filippo.io/age/cmd/age-plugin-batchpass@v${version}`, 'age-plugin-batchpass');
    return goInstall(machine, `filippo.io/age/cmd/age@v${version}`, 'age');
  },
  checks: {
    async 'sends files to keys of a server'(bench) {
      await start(bench);
      equal(await withCoffer(bench, lines), 'for others\n');
      const hybrid = `coffer transit keys public hybrid --format age > hybrid.pub
        age -R hybrid.pub -R quantum.pub --armor -o hybrid.age report
        coffer transit envelope decrypt --in hybrid.age`;
      equal(await withCoffer(bench, hybrid), 'for others\n');
    },
    async 'has a plugin that opens a local store and files here, and files of both there'(bench) {
      await start(bench);
      const typed = `unset COFFER_ADDR COFFER_TOKEN VAULT_ADDR VAULT_TOKEN COFFER_MASTER_KEY
        export COFFER_STORE=$PWD/store AGE_PASSPHRASE='correct horse' COFFER_IDENTITY=AGE-PLUGIN-BATCHPASS-1JCS0Q9
        echo $COFFER_IDENTITY > batchpass.txt && chmod 600 batchpass.txt
        coffer init -q --recipient $COFFER_IDENTITY
        coffer transit keys create -q orders && coffer transit keys list
        coffer transit envelope encrypt --recipient $COFFER_IDENTITY --in report --out ours.age && age -d -j batchpass ours.age
        age -e -j batchpass -o theirs.age report && coffer transit envelope decrypt --identity batchpass.txt --in theirs.age
        (AGE_PASSPHRASE=wrong coffer transit keys list 2>&1 || true) | grep -c 'age-plugin-batchpass failed: incorrect passphrase'`;
      equal(await withCoffer(bench, typed), 'orders\nfor others\nfor others\n1\n');
    },
    async 'sends files to keys on P-256 as to keys in devices'(bench) {
      await start(bench);
      const typed = `age -r $(coffer transit keys public tagged --format age) -R friend.pub -o tagged.age report
        coffer transit envelope decrypt --in tagged.age
        age -d -i friend.txt tagged.age
        coffer transit keys public tagged-pq --format age > tagged-pq.pub
        age -R tagged-pq.pub -R quantum.pub -o tagged-pq.age report
        coffer transit envelope decrypt tagged-pq --in tagged-pq.age
        age -d -i quantum.txt tagged-pq.age`;
      equal(await withCoffer(bench, typed), 'for others\n'.repeat(4));
    },
    async 'opens files for both kinds of its recipients'(bench) {
      await start(bench);
      const typed = `coffer transit envelope encrypt --recipient @friend.pub inbox --in report --out friend.age
        age -d -i friend.txt friend.age
        coffer transit envelope encrypt --recipient @quantum.pub hybrid --armor --in report --out quantum.age
        age -d -i quantum.txt quantum.age
        coffer transit envelope decrypt --identity quantum.txt --in quantum.age`;
      equal(await withCoffer(bench, typed), 'for others\n'.repeat(3));
    },
    async 'shares files with SSH keys'(bench) {
      await start(bench);
      const typed = `for kind in ed25519 rsa; do
        ssh-keygen -q -t $kind -N '' -f $kind
        coffer transit envelope encrypt --recipient @$kind.pub --in report --out $kind.age
        age -d -i $kind $kind.age
        age -R $kind.pub -o from-$kind.age report
        coffer transit envelope decrypt --identity $kind --in from-$kind.age
        done`;
      equal(await withCoffer(bench, typed), 'for others\n'.repeat(4));
    },
    async 'does not open what was taken from it by a rewrap'(bench) {
      await start(bench);
      const typed = `coffer transit envelope encrypt --recipient @friend.pub inbox --in report --out report.age
        age -d -i friend.txt report.age
        coffer transit envelope rewrap inbox --in report.age --recipient inbox
        coffer transit envelope decrypt inbox --in report.age`;
      equal(await withCoffer(bench, typed), 'for others\n'.repeat(2));
      match(await bench.refused('age', ['-d', '-i', 'friend.txt', 'report.age']), /no identity matched/);
    },
  },
};
