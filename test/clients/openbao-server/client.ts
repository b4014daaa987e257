import { equal, match } from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT_TOKEN as TOKEN, withOpenBao } from '../bao/dev-server.ts';
import { installBao, version } from '../bao/openbao.ts';
import { type Bench, type Client, shell } from '../client.ts';

const lines = `
coffer mounts add transit
coffer transit keys create orders
echo 'a secret' | coffer transit encrypt orders | coffer transit decrypt orders
`;

/** Runs lines in which `coffer` is our command, against an OpenBao of the check's own that keeps nothing. */
const against =
  (variables: (address: string) => Readonly<Record<string, string>>, lines: string) =>
  (bench: Bench): Promise<string> =>
    withOpenBao(bench.installed, bench.directory, (address) => {
      const command = `coffer() { ${bench.commandLine.map((word) => JSON.stringify(word)).join(' ')} "$@"; }`;
      // Nothing of the plain server's.
      const none = { VAULT_ADDR: undefined, VAULT_TOKEN: undefined };
      return shell(bench, `${command}\n${lines}`, { environment: { ...none, ...variables(address) } });
    });

const ours = (address: string) => ({ COFFER_ADDR: address, COFFER_TOKEN: TOKEN });
const theirs = (address: string) => ({ VAULT_ADDR: address, VAULT_TOKEN: TOKEN });
const mounted = (lines: string): string => `coffer mounts add transit\n${lines}`;

export const client: Client = {
  title: 'Our command on OpenBao',
  version,
  minutes: 10,
  install: installBao,
  checks: {
    async 'mounts transit, makes a key, encrypts and decrypts'(bench) {
      equal(await against(ours, lines)(bench), 'a secret\n');
    },
    async 'reads their variables where ours are not set'(bench) {
      equal(await against(theirs, lines)(bench), 'a secret\n');
      writeFileSync(join(bench.directory, '.vault-token'), TOKEN, { mode: 0o600 });
      equal(await against((address) => ({ VAULT_ADDR: address }), lines)(bench), 'a secret\n');
    },
    async 'rotates, rewraps, configures, lists and deletes keys'(bench) {
      const output = await against(
        ours,
        mounted(`
        sealed=$(coffer transit encrypt orders x)
        coffer transit keys rotate orders
        rewrapped=$(coffer transit rewrap orders $sealed)
        echo \${rewrapped%:*} $(coffer transit decrypt orders $rewrapped)
        coffer transit keys config orders --min-decryption-version 2 --min-encryption-version 2 --deletion-allowed
        coffer transit keys trim orders --min-available-version 2 --yes
        coffer transit keys read orders -o json
        coffer transit keys list
        coffer transit keys delete orders --yes
        coffer transit keys list`),
      )(bench);
      match(output, /^vault:v2 x\n\{.*"min_available_version":2.*\}\norders\n$/);
    },
    async 'signs and verifies, makes HMACs and data keys'(bench) {
      const output = await against(
        ours,
        mounted(`
        for type in ed25519 ecdsa-p256 rsa-2048; do
          coffer transit keys create $type --type $type
          signature=$(coffer transit sign $type message)
          coffer transit verify $type message --signature $signature
          ! coffer transit verify $type another --signature $signature
          coffer transit keys rotate $type
        done
        coffer transit keys create orders
        coffer transit verify orders message --hmac $(coffer transit hmac orders message)
        coffer transit datakey plaintext orders -o json | grep -c plaintext
        coffer transit random 8 --format hex | wc -c
        coffer transit hash message`),
      )(bench);
      const hash = 'ab530a13e45914982b79f9b7e3fba994cfd1f3fb22f71cea1afbf02b460c6d1d';
      equal(output, `${'true\nfalse\n'.repeat(3)}true\n1\n17\n${hash}\n`);
    },
    async 'signs files for ssh-keygen, with keys of every kind that it knows'(bench) {
      const output = await against(
        ours,
        mounted(`
        echo hello > file
        for type in ed25519 ecdsa-p256 ecdsa-p384 ecdsa-p521 rsa-2048; do
          coffer transit keys create $type --type $type
          coffer sign file --key $type --force
          echo "me $(coffer transit keys public $type --format ssh)" > signers
          ssh-keygen -Y verify -f signers -I me -n file -s file.sig < file
        done`),
      )(bench);
      equal(output.match(/Good "file" signature for me/g)?.length, 5);
    },
    async 'lets ssh-keygen sign with its keys, through an agent'(bench) {
      const output = await against(
        ours,
        mounted(`
        for type in ed25519 ecdsa-p256 ecdsa-p384 rsa-2048; do coffer transit keys create $type --type $type; done
        export XDG_RUNTIME_DIR=$PWD/run && mkdir -m 700 run && echo hello > file
        coffer agent run --ssh ed25519 --ssh ecdsa-p256 --ssh ecdsa-p384 --ssh rsa-2048 > said &
        until test -s said; do sleep 0.1; done
        eval "$(coffer agent env --ssh)"
        for type in ed25519 ecdsa-p256 ecdsa-p384 rsa-2048; do
          ssh-add -L | grep " $type$" > $type.pub
          ssh-keygen -q -Y sign -U -n file -f $type.pub < file > file.sig
          echo "me $(cat $type.pub)" > signers
          ssh-keygen -Y verify -f signers -I me -n file -s file.sig < file
        done
        kill $(pgrep -P $!)`),
      )(bench);
      equal(output.match(/Good "file" signature for me/g)?.length, 4);
    },
    async 'backs up, restores, exports and imports'(bench) {
      const output = await against(
        ours,
        mounted(`
        coffer transit keys create orders --exportable --allow-plaintext-backup
        sealed=$(coffer transit encrypt orders x)
        coffer transit backup orders | coffer transit restore copy
        coffer transit decrypt copy $sealed && echo
        coffer transit keys export orders --key-type encryption-key > key
        coffer transit import again --in key --type aes256-gcm96
        coffer transit decrypt again $sealed && echo`),
      )(bench);
      equal(output, 'x\nx\n');
    },
    async 'makes tokens and policies that hold'(bench) {
      const output = await against(
        ours,
        mounted(`
        coffer transit keys create orders
        echo 'path "transit/encrypt/orders" { capabilities = ["update"] }' > app.hcl
        coffer policy write app app.hcl
        coffer policy list | grep -x app
        token=$(coffer token create --policy app --ttl 1h)
        sealed=$(COFFER_TOKEN=$token coffer transit encrypt orders x)
        COFFER_TOKEN=$token coffer transit decrypt orders $sealed || echo denied $?
        coffer token lookup $token -o json | grep -c '"app"'
        coffer token renew $token -o json | grep -c renewable
        coffer token revoke $token --yes
        COFFER_TOKEN=$token coffer transit encrypt orders x || echo denied $?
        coffer policy delete app --yes
        coffer policy list`),
      )(bench);
      equal(output, 'app\ndenied 4\n1\n1\ndenied 4\ndefault\nroot\n');
    },
    async 'lists, adds, moves and removes mounts'(bench) {
      const output = await against(
        ours,
        `coffer mounts add payments --description shop
        coffer transit keys create orders --mount payments
        coffer mounts move payments moved
        coffer transit keys list --mount moved
        coffer mounts remove moved --yes
        coffer mounts list`,
      )(bench);
      equal(output, 'orders\ncubbyhole/\nidentity/\nsecret/\nsys/\n');
    },
    async 'reads, writes, lists and deletes paths of other engines'(bench) {
      const output = await against(
        ours,
        `echo '{"data": {"password": "a secret"}}' | coffer write secret/data/app -
        coffer read secret/data/app -o json
        coffer list secret/metadata
        coffer delete secret/metadata/app --yes
        coffer read secret/data/app || echo gone $?`,
      )(bench);
      match(output, /"data":\{"password":"a secret"\}.*\napp\n(?:.*\n)?gone 3\n$/);
    },
    async 'logs in with a password, a secret ID and a token, and logs out'(bench) {
      const output = await against(
        (address) => ({ COFFER_ADDR: address }),
        `export COFFER_TOKEN=${TOKEN}
        coffer mounts add transit
        coffer auth enable userpass
        coffer auth enable approle --path ci
        echo 'path "transit/keys" { capabilities = ["list"] }' > app.hcl
        coffer policy write app app.hcl
        echo first | coffer auth userpass write ada - --token-policies app
        echo second | coffer auth userpass password ada
        coffer auth approle write deploy --token-policies app --path ci
        role=$(coffer auth approle role-id deploy --path ci)
        coffer auth approle secret-id deploy --out secret --path ci
        coffer token create --policy app --out token
        unset COFFER_TOKEN
        for method in "userpass username=ada password=-" "approle role_id=$role secret_id=@secret --path ci" token=@token; do
          echo second | coffer login $method
          coffer transit keys list
          coffer token lookup -o json | sed 's/.*"display_name":"\\([^"]*\\)".*/\\1/'
          coffer logout
          coffer transit keys list || echo denied $?
        done`,
      )(bench);
      equal(output, 'userpass-ada\ndenied 4\nci\ndenied 4\ntoken\ndenied 4\n');
    },
  },
};
