import { doesNotMatch, equal, match } from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { withCertificates } from '../certified.ts';
import { type Bench, type Client, shell } from '../client.ts';
import { jwtTokens } from '../openbao-logins/jwt-requests.ts';
import { installBao, version } from './openbao.ts';

const lines = `
bao write -f transit/keys/orders
bao write -field=ciphertext transit/encrypt/orders plaintext=$(base64 <<< 'a secret') > sealed
bao write -field=plaintext transit/decrypt/orders ciphertext=@sealed | base64 --decode
`;

const allTypes = [
  ...['aes128-gcm96', 'aes256-gcm96', 'chacha20-poly1305', 'xchacha20-poly1305'],
  ...['ecdsa-p256', 'ecdsa-p384', 'ecdsa-p521', 'ed25519', 'rsa-2048', 'rsa-3072', 'rsa-4096'],
];
const signing = allTypes.filter((type) => /^(?:ecdsa|ed25519|rsa)/.test(type));

const everyOf = (types: readonly string[], script: string): string =>
  `for type in ${types.join(' ')}; do\n${script}\ndone`;

/** As an administrator prepares what others log in with; role and secret ID are variables then. */
const ALL_METHODS = `
for method in userpass approle jwt; do bao auth enable $method; done
bao write auth/userpass/users/ada password=secret policies=app
bao write auth/approle/role/deploy token_policies=app token_ttl=1h
role=$(bao read -field=role_id auth/approle/role/deploy/role-id)
secret=$(bao write -f -field=secret_id auth/approle/role/deploy/secret-id)
test ! -f key.pem || bao write auth/jwt/config jwt_validation_pubkeys=@key.pem
bao write auth/jwt/role/release role_type=jwt user_claim=project_path bound_audiences=https://vault.example.com policies=app
`;

const check =
  (script: string) =>
  async (bench: Bench): Promise<void> =>
    void (await shell(bench, script));

export const client: Client = {
  title: 'bao',
  version,
  minutes: 15,
  install: installBao,
  checks: {
    async 'makes a key, encrypts and decrypts'(bench) {
      match(await shell(bench, lines), /a secret\n$/);
    },
    'makes, rotates, configures, trims and deletes keys of every type': check(
      `${everyOf(
        allTypes,
        `bao write transit/keys/$type type=$type
        bao write -f transit/keys/$type/rotate
        bao write transit/keys/$type/config min_decryption_version=2 min_encryption_version=2 deletion_allowed=true
        bao write transit/keys/$type/trim min_available_version=2
        test "$(bao read -field=type transit/keys/$type)" = $type
        bao list transit/keys | grep -x $type
        bao delete transit/keys/$type`,
      )}
      bao write transit/keys/mac type=hmac key_size=48`,
    ),
    'encrypts, decrypts and rewraps, for contexts too': check(`
      bao write transit/keys/tenants derived=true convergent_encryption=true
      plaintext=$(printf x | base64) context=$(printf tenant | base64)
      first=$(bao write -field=ciphertext transit/encrypt/tenants plaintext=$plaintext context=$context)
      test "$(bao write -field=ciphertext transit/encrypt/tenants plaintext=$plaintext context=$context)" = $first
      bao write -f transit/keys/tenants/rotate
      second=$(bao write -field=ciphertext transit/rewrap/tenants ciphertext=$first context=$context)
      test "$(bao write -field=plaintext transit/decrypt/tenants ciphertext=$second context=$context)" = $plaintext
      case $second in vault:v2:*) ;; *) exit 1 ;; esac`),
    'signs and verifies with every type that signs': check(
      everyOf(
        signing,
        `bao write transit/keys/by-$type type=$type
        input=$(printf message | base64)
        signature=$(bao write -field=signature transit/sign/by-$type/sha2-384 input=$input)
        test "$(bao write -field=valid transit/verify/by-$type/sha2-384 input=$input signature=$signature)" = true`,
      ),
    ),
    'makes and verifies HMACs, data keys, random bytes and hashes': check(`
      input=$(printf message | base64)
      bao write -f transit/keys/wrapper
      hmac=$(bao write -field=hmac transit/hmac/wrapper input=$input)
      test "$(bao write -field=valid transit/verify/wrapper input=$input hmac=$hmac)" = true
      bao write -f -format=json transit/datakey/plaintext/wrapper > datakey
      bao write -f transit/datakey/wrapped/wrapper
      test "$(bao write -f -field=random_bytes transit/random/16 | base64 --decode | wc -c)" = 16
      test "$(bao write -field=sum transit/hash/sha2-256 input=$input)" = "$(printf message | sha256sum | cut -d ' ' -f 1)"`),
    'exports, backs up, restores and imports': check(`
      bao write transit/keys/movable exportable=true allow_plaintext_backup=true
      bao read transit/export/encryption-key/movable/latest
      bao read -field=backup transit/backup/movable > backup
      bao write transit/restore/moved backup=@backup
      sealed=$(bao write -field=ciphertext transit/encrypt/movable plaintext=eA==)
      test "$(bao write -field=plaintext transit/decrypt/moved ciphertext=$sealed)" = eA==
      key=$(head -c 32 /dev/urandom | base64)
      bao transit import transit/keys/imported $key type=aes256-gcm96 exportable=true allow_rotation=true
      bao transit import-version transit/keys/imported $key
      bao read -format=json transit/export/encryption-key/imported/2 | grep -F "$key"`),
    'reads and sets the cache and the defaults of keys': check(`
      bao write transit/cache-config size=500
      test "$(bao read -field=size transit/cache-config)" = 500
      bao write transit/config/keys disable_upsert=true
      test "$(bao read -field=disable_upsert transit/config/keys)" = true
      bao write transit/config/keys disable_upsert=false`),
    async 'enables, lists, tunes, moves and disables mounts'(bench) {
      await shell(
        bench,
        `bao secrets enable -path=payments -description=shop transit
        bao secrets tune -default-lease-ttl=2h -max-lease-ttl=3h -listing-visibility=unauth payments
        test "$(bao read -field=max_lease_ttl sys/mounts/payments/tune)" = 10800
        bao write -f payments/keys/orders
        bao secrets move payments moved/payments
        bao list moved/payments/keys | grep -x orders`,
      );
      match(await shell(bench, 'bao secrets list'), /^moved\/payments\/ +transit +transit_\w+ +shop$/m);
      await shell(bench, 'bao secrets disable moved/payments');
      doesNotMatch(await shell(bench, 'bao secrets list'), /payments/);
    },
    'writes, formats, lists, reads and deletes policies': check(`
      echo 'path "transit/encrypt/orders" { capabilities = ["update"] }' > app.hcl
      bao policy fmt app.hcl
      bao policy write app app.hcl
      bao policy list | grep -x app
      bao policy read app | cmp - app.hcl
      bao policy delete app`),
    'creates, looks up, renews and revokes tokens, and logs in with one': check(`
      token=$(bao token create -policy=default -ttl=1h -metadata=team=a -field=token)
      bao token lookup $token
      bao token renew -increment=30m $token
      test "$(bao token capabilities $token transit/encrypt/orders)" = deny
      accessor=$(bao token lookup -format=json $token | sed -n 's/.*"accessor": "\\(.*\\)",/\\1/p')
      bao token lookup -accessor $accessor
      bao list auth/token/accessors | grep -x $accessor
      env -u BAO_TOKEN -u VAULT_TOKEN bao login $token
      env -u BAO_TOKEN -u VAULT_TOKEN bao token lookup
      bao token revoke $token
      ! bao token lookup $token
      bao token create -orphan -period=1h -field=token > orphan
      bao token revoke -accessor $(bao token lookup -format=json $(cat orphan) | sed -n 's/.*"accessor": "\\(.*\\)",/\\1/p')`),
    'logs in with a name and a password': check(`
      bao auth enable -path=people userpass
      bao write auth/people/users/ann password=right token_policies=default token_ttl=20m
      env -u BAO_TOKEN -u VAULT_TOKEN bao login -method=userpass -path=people username=ann password=right
      env -u BAO_TOKEN -u VAULT_TOKEN bao token lookup | grep people-ann
      env -u BAO_TOKEN -u VAULT_TOKEN bao token renew
      ! env -u BAO_TOKEN -u VAULT_TOKEN bao login -method=userpass -path=people username=ann password=wrong
      bao auth tune -user-lockout-threshold=3 -user-lockout-duration=1h people
      test "$(bao read -field=user_lockout_duration sys/auth/people/tune)" = 3600
      bao auth disable people`),
    'logs in with a certificate, and is renewed with it': (bench) =>
      withCertificates(bench, ({ address, token, certificate }) =>
        shell(
          bench,
          `as_owner() { BAO_TOKEN=${token} bao "$@"; }
          as_owner auth enable cert
          as_owner write auth/cert/certs/web certificate=@ca.pem allowed_common_names=web token_policies=default
          as_owner list auth/cert/certs | grep -x web
          ! bao login -method=cert name=web
          bao login -method=cert -client-cert=web.pem -client-key=web.key name=web
          bao token lookup | grep cert-web
          bao token renew -client-cert=web.pem -client-key=web.key
          ! bao token renew`,
          {
            environment: {
              BAO_ADDR: address,
              VAULT_ADDR: undefined,
              BAO_TOKEN: undefined,
              VAULT_TOKEN: undefined,
              BAO_CACERT: certificate,
            },
          },
        ),
      ),
    'logs in with a password, a secret ID and a signed token': async (bench) => {
      const { token, pem } = await jwtTokens();
      writeFileSync(join(bench.directory, 'job'), token ?? '');
      writeFileSync(join(bench.directory, 'key.pem'), JSON.parse(`"${pem}"`) as string);
      await shell(
        bench,
        `${ALL_METHODS}
        unset VAULT_TOKEN BAO_TOKEN
        bao login -method=userpass -no-print username=ada password=secret
        test "$(bao token lookup -format=json | grep -c '"userpass-ada"')" = 1
        test "$(bao login -method=userpass -token-only username=ada password=secret | wc -c)" -gt 20
        ! bao login -method=userpass username=ada password=wrong
        first=$(bao write -field=token auth/approle/login role_id=$role secret_id=$secret)
        test "$(BAO_TOKEN=$first bao token lookup -format=json | grep -c '"app"')" -ge 1
        job=$(bao write -field=token auth/jwt/login role=release jwt=@job)
        test "$(BAO_TOKEN=$job bao token lookup -format=json | grep -c '"jwt-my-group/my-project"')" = 1
        bao token revoke -self
        ! bao token lookup`,
      );
      await shell(bench, 'for method in userpass approle jwt; do bao auth disable $method; done');
    },
    'lists, tunes, moves and disables login methods': check(`
      bao auth enable -path=people -description=humans -default-lease-ttl=1h userpass
      bao auth list | grep '^people/ *userpass'
      bao auth list -detailed | grep -c people/
      bao auth tune -max-lease-ttl=8h -listing-visibility=unauth people
      test "$(bao read -field=max_lease_ttl sys/auth/people/tune)" = 28800
      bao auth move auth/people auth/humans
      bao auth list | grep '^humans/'
      bao auth disable humans
      ! bao auth list | grep humans`),
    'wraps answers, looks into them, and unwraps once': check(`
      token=$(bao write -wrap-ttl=60 -field=wrapping_token sys/wrapping/wrap password=secret)
      bao write -field=creation_path sys/wrapping/lookup token=$token | grep -x sys/wrapping/wrap
      test "$(bao unwrap -field=password $token)" = secret
      ! bao unwrap $token
      bao token create -wrap-ttl=1m -policy=default -format=json > wrapped
      BAO_TOKEN=$(sed -n 's/.*"token": "\\(.*\\)",/\\1/p' wrapped) bao unwrap -format=json | grep client_token`),
    'makes token roles, and tokens by them': check(`
      bao write auth/token/roles/ci allowed_policies=app orphan=true token_explicit_max_ttl=1h
      token=$(bao token create -role=ci -policy=app -field=token)
      bao token lookup $token | grep -E '^role +ci'
      ! bao token create -role=ci -policy=other
      bao delete auth/token/roles/ci`),
    async 'runs its agent, which logs in by a secret ID and keeps its token alive'(bench) {
      await shell(
        bench,
        `${ALL_METHODS}
        printf %s $role > role-id; printf %s $secret > secret-id
        cat > agent.hcl <<HCL
        vault { address = "$BAO_ADDR" }
        auto_auth {
          method "approle" {
            mount_path = "auth/approle"
            config = { role_id_file_path = "role-id", secret_id_file_path = "secret-id", remove_secret_id_file_after_reading = false }
          }
          sink "file" { config = { path = "sink" } }
        }
        HCL
        env -u BAO_TOKEN -u VAULT_TOKEN bao agent -config=agent.hcl > agent.log 2>&1 &
        agent=$!
        trap 'kill $agent' EXIT
        for n in $(seq 100); do test -s sink && break; sleep 0.1; done
        BAO_TOKEN=$(cat sink) bao token lookup | grep -E '^display_name +approle'
        for n in $(seq 100); do grep -q 'renewed auth token' agent.log && break; sleep 0.1; done
        grep 'renewed auth token' agent.log`.replaceAll('\n        ', '\n'),
      );
      await shell(bench, 'for method in userpass approle jwt; do bao auth disable $method; done');
    },
    async 'shows help on paths, and runs nothing for it'(bench) {
      await shell(bench, 'bao write transit/keys/shown exportable=true');
      match(await shell(bench, 'bao path-help transit'), /^POST encrypt\/\{name\}$/m);
      match(await shell(bench, 'bao path-help transit/keys/shown'), /^DELETE keys\/\{name\}$/m);
      const key = await shell(bench, 'bao read -format=json transit/export/encryption-key/shown');
      const material = /"1": "([^"]+)"/.exec(key)?.[1] ?? '';
      equal(material.length, 44);
      const help = await shell(bench, 'bao path-help transit/export/encryption-key/shown');
      equal(help.includes(material), false);
      await shell(bench, 'bao path-help sys/mounts');
    },
    async 'shows the state of the server'(bench) {
      match(await shell(bench, 'bao status'), /^Sealed +false$/m);
    },
  },
};
