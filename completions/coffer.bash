# bash completion of coffer. Generated; do not edit.
# Load it with: source <(coffer completion bash)

_coffer_children() {
  case "$1" in
    '') echo 'keygen init status slots rekey doctor store transit token policy orgs workspaces tags mounts read write list delete serve version help completion' ;;
    'keygen'|'init'|'status'|'slots list'|'slots add'|'slots remove'|'rekey'|'doctor'|'store backup'|'store restore'|'store copy'|'store migrate'|'transit keys create'|'transit keys read'|'transit keys list'|'transit keys config'|'transit keys rotate'|'transit keys trim'|'transit keys delete'|'transit keys export'|'transit encrypt'|'transit decrypt'|'transit rewrap'|'transit datakey'|'transit random'|'transit hash'|'transit hmac'|'transit sign'|'transit verify'|'transit backup'|'transit restore'|'transit import'|'transit import-version'|'transit wrapping-key'|'transit byok-export'|'transit key-defaults'|'transit cache-config'|'transit envelope encrypt'|'transit envelope decrypt'|'transit envelope header'|'transit envelope rewrap'|'token create'|'token list'|'token lookup'|'token renew'|'token revoke'|'policy list'|'policy read'|'policy write'|'policy delete'|'orgs create'|'orgs list'|'orgs show'|'orgs delete'|'workspaces create'|'workspaces list'|'workspaces show'|'workspaces update'|'workspaces tag'|'workspaces untag'|'workspaces delete'|'tags create'|'tags list'|'tags show'|'tags delete'|'tags attach'|'tags detach'|'tags of'|'mounts list'|'mounts add'|'mounts remove'|'mounts move'|'read'|'write'|'list'|'delete'|'serve'|'version'|'help'|'completion') echo '' ;;
    'slots') echo 'list add remove' ;;
    'store') echo 'backup restore copy migrate' ;;
    'transit') echo 'keys encrypt decrypt rewrap datakey random hash hmac sign verify backup restore import import-version wrapping-key byok-export key-defaults cache-config envelope' ;;
    'transit keys') echo 'create read list config rotate trim delete export' ;;
    'transit envelope') echo 'encrypt decrypt header rewrap' ;;
    'token') echo 'create list lookup renew revoke' ;;
    'policy') echo 'list read write delete' ;;
    'orgs') echo 'create list show delete' ;;
    'workspaces') echo 'create list show update tag untag delete' ;;
    'tags') echo 'create list show delete attach detach of' ;;
    'mounts') echo 'list add remove move' ;;
    *) return 1 ;;
  esac
}

_coffer_flags() {
  case "$1" in
    ''|'status'|'slots'|'slots list'|'slots remove'|'store'|'store migrate'|'transit'|'transit keys'|'transit envelope'|'token'|'policy'|'orgs'|'workspaces'|'tags'|'mounts'|'help'|'completion') echo '--store --address --token --token-file --mount --org --output -o --quiet -q --no-color --yes -y --help -h' ;;
    'keygen'|'transit keys delete'|'transit backup'|'transit wrapping-key'|'token list'|'token lookup'|'policy list'|'policy read'|'policy write'|'policy delete'|'orgs show'|'orgs delete'|'workspaces tag'|'workspaces untag'|'mounts list'|'mounts remove'|'mounts move') echo '--out --store --address --token --token-file --mount --org --output -o --quiet -q --no-color --yes -y --help -h' ;;
    'init') echo '--passphrase --passphrase-file --key-file --raw --command --shares --threshold --label --dialect --store --address --token --token-file --mount --org --output -o --quiet -q --no-color --yes -y --help -h' ;;
    'slots add') echo '--passphrase --passphrase-file --key-file --raw --command --shares --threshold --label --store --address --token --token-file --mount --org --output -o --quiet -q --no-color --yes -y --help -h' ;;
    'rekey') echo '--without-damaged --store --address --token --token-file --mount --org --output -o --quiet -q --no-color --yes -y --help -h' ;;
    'doctor') echo '--repair --store --address --token --token-file --mount --org --output -o --quiet -q --no-color --yes -y --help -h' ;;
    'store backup'|'store restore'|'store copy') echo '--without-damaged --unverified --store --address --token --token-file --mount --org --output -o --quiet -q --no-color --yes -y --help -h' ;;
    'transit keys create') echo '--type --derived --convergent-encryption --exportable --allow-plaintext-backup --auto-rotate-period --key-size --out --store --address --token --token-file --mount --org --output -o --quiet -q --no-color --yes -y --help -h' ;;
    'transit keys read') echo '--context --context-text --out --store --address --token --token-file --mount --org --output -o --quiet -q --no-color --yes -y --help -h' ;;
    'transit keys list') echo '--after --limit --out --store --address --token --token-file --mount --org --output -o --quiet -q --no-color --yes -y --help -h' ;;
    'transit keys config') echo '--min-decryption-version --min-encryption-version --deletion-allowed --no-deletion-allowed --exportable --allow-plaintext-backup --auto-rotate-period --out --store --address --token --token-file --mount --org --output -o --quiet -q --no-color --yes -y --help -h' ;;
    'transit keys rotate') echo '--force --out --store --address --token --token-file --mount --org --output -o --quiet -q --no-color --yes -y --help -h' ;;
    'transit keys trim') echo '--min-available-version --out --store --address --token --token-file --mount --org --output -o --quiet -q --no-color --yes -y --help -h' ;;
    'transit keys export') echo '--key-type --version --format --out --store --address --token --token-file --mount --org --output -o --quiet -q --no-color --yes -y --help -h' ;;
    'transit encrypt') echo '--context --context-text --key-version --nonce --associated-data --associated-data-text --type --convergent-encryption --no-create --in --base64 --batch --out --store --address --token --token-file --mount --org --output -o --quiet -q --no-color --yes -y --help -h' ;;
    'transit decrypt') echo '--context --context-text --nonce --associated-data --associated-data-text --in --base64 --batch --out --store --address --token --token-file --mount --org --output -o --quiet -q --no-color --yes -y --help -h' ;;
    'transit rewrap') echo '--context --context-text --nonce --associated-data --associated-data-text --key-version --in --batch --out --store --address --token --token-file --mount --org --output -o --quiet -q --no-color --yes -y --help -h' ;;
    'transit datakey') echo '--bits --context --context-text --key-version --nonce --associated-data --associated-data-text --out --store --address --token --token-file --mount --org --output -o --quiet -q --no-color --yes -y --help -h' ;;
    'transit random') echo '--format --out --store --address --token --token-file --mount --org --output -o --quiet -q --no-color --yes -y --help -h' ;;
    'transit hash') echo '--algorithm --format --in --base64 --out --store --address --token --token-file --mount --org --output -o --quiet -q --no-color --yes -y --help -h' ;;
    'transit hmac') echo '--algorithm --key-version --in --base64 --batch --out --store --address --token --token-file --mount --org --output -o --quiet -q --no-color --yes -y --help -h' ;;
    'transit sign') echo '--context --context-text --key-version --hash-algorithm --algorithm --prehashed --signature-algorithm --marshaling-algorithm --salt-length --in --base64 --batch --out --store --address --token --token-file --mount --org --output -o --quiet -q --no-color --yes -y --help -h' ;;
    'transit verify') echo '--signature --hmac --context --context-text --hash-algorithm --algorithm --prehashed --signature-algorithm --marshaling-algorithm --salt-length --in --base64 --batch --out --store --address --token --token-file --mount --org --output -o --quiet -q --no-color --yes -y --help -h' ;;
    'transit restore') echo '--force --in --out --store --address --token --token-file --mount --org --output -o --quiet -q --no-color --yes -y --help -h' ;;
    'transit import') echo '--type --public-key --hash-function --allow-rotation --derived --exportable --allow-plaintext-backup --auto-rotate-period --in --out --store --address --token --token-file --mount --org --output -o --quiet -q --no-color --yes -y --help -h' ;;
    'transit import-version') echo '--public-key --hash-function --version --in --out --store --address --token --token-file --mount --org --output -o --quiet -q --no-color --yes -y --help -h' ;;
    'transit byok-export') echo '--version --hash --out --store --address --token --token-file --mount --org --output -o --quiet -q --no-color --yes -y --help -h' ;;
    'transit key-defaults') echo '--disable-upsert --no-disable-upsert --out --store --address --token --token-file --mount --org --output -o --quiet -q --no-color --yes -y --help -h' ;;
    'transit cache-config') echo '--size --out --store --address --token --token-file --mount --org --output -o --quiet -q --no-color --yes -y --help -h' ;;
    'transit envelope encrypt') echo '--in --out --out-dir --force --metadata --context --context-text --store --address --token --token-file --mount --org --output -o --quiet -q --no-color --yes -y --help -h' ;;
    'transit envelope decrypt') echo '--in --out --out-dir --force --offset --length --context --context-text --store --address --token --token-file --mount --org --output -o --quiet -q --no-color --yes -y --help -h' ;;
    'transit envelope header') echo '--in --out --verify --context --context-text --store --address --token --token-file --mount --org --output -o --quiet -q --no-color --yes -y --help -h' ;;
    'transit envelope rewrap') echo '--in --context --context-text --store --address --token --token-file --mount --org --output -o --quiet -q --no-color --yes -y --help -h' ;;
    'token create') echo '--policy --ttl --explicit-max-ttl --period --display-name --num-uses --renewable --no-renewable --no-default-policy --orphan --meta --out --store --address --token --token-file --mount --org --output -o --quiet -q --no-color --yes -y --help -h' ;;
    'token renew') echo '--increment --out --store --address --token --token-file --mount --org --output -o --quiet -q --no-color --yes -y --help -h' ;;
    'token revoke') echo '--in --out --store --address --token --token-file --mount --org --output -o --quiet -q --no-color --yes -y --help -h' ;;
    'orgs create') echo '--email --out --store --address --token --token-file --mount --org --output -o --quiet -q --no-color --yes -y --help -h' ;;
    'orgs list') echo '--page --page-size --out --store --address --token --token-file --mount --org --output -o --quiet -q --no-color --yes -y --help -h' ;;
    'workspaces create') echo '--org --description --tag --out --store --address --token --token-file --mount --output -o --quiet -q --no-color --yes -y --help -h' ;;
    'workspaces list') echo '--org --tag --exclude-tag --wildcard --sort --page --page-size --all --out --store --address --token --token-file --mount --output -o --quiet -q --no-color --yes -y --help -h' ;;
    'workspaces show'|'workspaces delete'|'tags create'|'tags show'|'tags delete') echo '--org --out --store --address --token --token-file --mount --output -o --quiet -q --no-color --yes -y --help -h' ;;
    'workspaces update') echo '--org --name --description --out --store --address --token --token-file --mount --output -o --quiet -q --no-color --yes -y --help -h' ;;
    'tags list') echo '--org --exclude-taggable --page --page-size --all --out --store --address --token --token-file --mount --output -o --quiet -q --no-color --yes -y --help -h' ;;
    'tags attach'|'tags detach') echo '--workspace --out --store --address --token --token-file --mount --org --output -o --quiet -q --no-color --yes -y --help -h' ;;
    'tags of') echo '--page --page-size --all --out --store --address --token --token-file --mount --org --output -o --quiet -q --no-color --yes -y --help -h' ;;
    'mounts add') echo '--dialect --description --out --store --address --token --token-file --mount --org --output -o --quiet -q --no-color --yes -y --help -h' ;;
    'read'|'write'|'list'|'delete') echo '--field --out --store --address --token --token-file --mount --org --output -o --quiet -q --no-color --yes -y --help -h' ;;
    'serve') echo '--listen --socket --tls-cert --tls-key --allow-insecure-listen --workers --max-request-size --dialect --audit-log --store --address --token --token-file --mount --org --output -o --quiet -q --no-color --yes -y --help -h' ;;
    'version') echo '--licenses --store --address --token --token-file --mount --org --output -o --quiet -q --no-color --yes -y --help -h' ;;
    *) return 1 ;;
  esac
}

_coffer_values() {
  case "$1|$2" in
    '|--store'|'keygen|--store'|'init|--store'|'status|--store'|'slots|--store'|'slots list|--store'|'slots add|--store'|'slots remove|--store'|'rekey|--store'|'doctor|--store'|'store|--store'|'store backup|--store'|'store restore|--store'|'store copy|--store'|'store migrate|--store'|'transit|--store'|'transit keys|--store'|'transit keys create|--store'|'transit keys read|--store'|'transit keys list|--store'|'transit keys config|--store'|'transit keys rotate|--store'|'transit keys trim|--store'|'transit keys delete|--store'|'transit keys export|--store'|'transit encrypt|--store'|'transit decrypt|--store'|'transit rewrap|--store'|'transit datakey|--store'|'transit random|--store'|'transit hash|--store'|'transit hmac|--store'|'transit sign|--store'|'transit verify|--store'|'transit backup|--store'|'transit restore|--store'|'transit import|--store'|'transit import-version|--store'|'transit wrapping-key|--store'|'transit byok-export|--store'|'transit key-defaults|--store'|'transit cache-config|--store'|'transit envelope|--store'|'transit envelope encrypt|--out-dir'|'transit envelope encrypt|--store'|'transit envelope decrypt|--out-dir'|'transit envelope decrypt|--store'|'transit envelope header|--store'|'transit envelope rewrap|--store'|'token|--store'|'token create|--store'|'token list|--store'|'token lookup|--store'|'token renew|--store'|'token revoke|--store'|'policy|--store'|'policy list|--store'|'policy read|--store'|'policy write|--store'|'policy delete|--store'|'orgs|--store'|'orgs create|--store'|'orgs list|--store'|'orgs show|--store'|'orgs delete|--store'|'workspaces|--store'|'workspaces create|--store'|'workspaces list|--store'|'workspaces show|--store'|'workspaces update|--store'|'workspaces tag|--store'|'workspaces untag|--store'|'workspaces delete|--store'|'tags|--store'|'tags create|--store'|'tags list|--store'|'tags show|--store'|'tags delete|--store'|'tags attach|--store'|'tags detach|--store'|'tags of|--store'|'mounts|--store'|'mounts list|--store'|'mounts add|--store'|'mounts remove|--store'|'mounts move|--store'|'read|--store'|'write|--store'|'list|--store'|'delete|--store'|'serve|--store'|'version|--store'|'help|--store'|'completion|--store') echo 'directories' ;;
    '|--address'|'keygen|--address'|'init|--command'|'init|--shares'|'init|--threshold'|'init|--label'|'init|--address'|'status|--address'|'slots|--address'|'slots list|--address'|'slots add|--command'|'slots add|--shares'|'slots add|--threshold'|'slots add|--label'|'slots add|--address'|'slots remove|--address'|'rekey|--address'|'doctor|--address'|'store|--address'|'store backup|--address'|'store restore|--address'|'store copy|--address'|'store migrate|--address'|'transit|--address'|'transit keys|--address'|'transit keys create|--auto-rotate-period'|'transit keys create|--key-size'|'transit keys create|--address'|'transit keys read|--context'|'transit keys read|--context-text'|'transit keys read|--address'|'transit keys list|--after'|'transit keys list|--limit'|'transit keys list|--address'|'transit keys config|--min-decryption-version'|'transit keys config|--min-encryption-version'|'transit keys config|--auto-rotate-period'|'transit keys config|--address'|'transit keys rotate|--address'|'transit keys trim|--min-available-version'|'transit keys trim|--address'|'transit keys delete|--address'|'transit keys export|--version'|'transit keys export|--address'|'transit encrypt|--context'|'transit encrypt|--context-text'|'transit encrypt|--key-version'|'transit encrypt|--nonce'|'transit encrypt|--associated-data'|'transit encrypt|--associated-data-text'|'transit encrypt|--address'|'transit decrypt|--context'|'transit decrypt|--context-text'|'transit decrypt|--nonce'|'transit decrypt|--associated-data'|'transit decrypt|--associated-data-text'|'transit decrypt|--address'|'transit rewrap|--context'|'transit rewrap|--context-text'|'transit rewrap|--nonce'|'transit rewrap|--associated-data'|'transit rewrap|--associated-data-text'|'transit rewrap|--key-version'|'transit rewrap|--address'|'transit datakey|--context'|'transit datakey|--context-text'|'transit datakey|--key-version'|'transit datakey|--nonce'|'transit datakey|--associated-data'|'transit datakey|--associated-data-text'|'transit datakey|--address'|'transit random|--address'|'transit hash|--address'|'transit hmac|--key-version'|'transit hmac|--address'|'transit sign|--context'|'transit sign|--context-text'|'transit sign|--key-version'|'transit sign|--address'|'transit verify|--signature'|'transit verify|--hmac'|'transit verify|--context'|'transit verify|--context-text'|'transit verify|--address'|'transit backup|--address'|'transit restore|--address'|'transit import|--public-key'|'transit import|--auto-rotate-period'|'transit import|--address'|'transit import-version|--public-key'|'transit import-version|--version'|'transit import-version|--address'|'transit wrapping-key|--address'|'transit byok-export|--version'|'transit byok-export|--address'|'transit key-defaults|--address'|'transit cache-config|--size'|'transit cache-config|--address'|'transit envelope|--address'|'transit envelope encrypt|--metadata'|'transit envelope encrypt|--context'|'transit envelope encrypt|--context-text'|'transit envelope encrypt|--address'|'transit envelope decrypt|--offset'|'transit envelope decrypt|--length'|'transit envelope decrypt|--context'|'transit envelope decrypt|--context-text'|'transit envelope decrypt|--address'|'transit envelope header|--context'|'transit envelope header|--context-text'|'transit envelope header|--address'|'transit envelope rewrap|--context'|'transit envelope rewrap|--context-text'|'transit envelope rewrap|--address'|'token|--address'|'token create|--ttl'|'token create|--explicit-max-ttl'|'token create|--period'|'token create|--display-name'|'token create|--num-uses'|'token create|--meta'|'token create|--address'|'token list|--address'|'token lookup|--address'|'token renew|--increment'|'token renew|--address'|'token revoke|--address'|'policy|--address'|'policy list|--address'|'policy read|--address'|'policy write|--address'|'policy delete|--address'|'orgs|--address'|'orgs create|--email'|'orgs create|--address'|'orgs list|--page'|'orgs list|--page-size'|'orgs list|--address'|'orgs show|--address'|'orgs delete|--address'|'workspaces|--address'|'workspaces create|--description'|'workspaces create|--address'|'workspaces list|--wildcard'|'workspaces list|--page'|'workspaces list|--page-size'|'workspaces list|--address'|'workspaces show|--address'|'workspaces update|--name'|'workspaces update|--description'|'workspaces update|--address'|'workspaces tag|--address'|'workspaces untag|--address'|'workspaces delete|--address'|'tags|--address'|'tags create|--address'|'tags list|--page'|'tags list|--page-size'|'tags list|--address'|'tags show|--address'|'tags delete|--address'|'tags attach|--address'|'tags detach|--address'|'tags of|--page'|'tags of|--page-size'|'tags of|--address'|'mounts|--address'|'mounts list|--address'|'mounts add|--description'|'mounts add|--address'|'mounts remove|--address'|'mounts move|--address'|'read|--field'|'read|--address'|'write|--field'|'write|--address'|'list|--field'|'list|--address'|'delete|--field'|'delete|--address'|'serve|--listen'|'serve|--workers'|'serve|--max-request-size'|'serve|--address'|'version|--address'|'help|--address'|'completion|--address') echo 'unknown' ;;
    '|--token-file'|'keygen|--out'|'keygen|--token-file'|'init|--passphrase-file'|'init|--key-file'|'init|--token-file'|'status|--token-file'|'slots|--token-file'|'slots list|--token-file'|'slots add|--passphrase-file'|'slots add|--key-file'|'slots add|--token-file'|'slots remove|--token-file'|'rekey|--token-file'|'doctor|--token-file'|'store|--token-file'|'store backup|--token-file'|'store restore|--token-file'|'store copy|--token-file'|'store migrate|--token-file'|'transit|--token-file'|'transit keys|--token-file'|'transit keys create|--out'|'transit keys create|--token-file'|'transit keys read|--out'|'transit keys read|--token-file'|'transit keys list|--out'|'transit keys list|--token-file'|'transit keys config|--out'|'transit keys config|--token-file'|'transit keys rotate|--out'|'transit keys rotate|--token-file'|'transit keys trim|--out'|'transit keys trim|--token-file'|'transit keys delete|--out'|'transit keys delete|--token-file'|'transit keys export|--out'|'transit keys export|--token-file'|'transit encrypt|--in'|'transit encrypt|--batch'|'transit encrypt|--out'|'transit encrypt|--token-file'|'transit decrypt|--in'|'transit decrypt|--batch'|'transit decrypt|--out'|'transit decrypt|--token-file'|'transit rewrap|--in'|'transit rewrap|--batch'|'transit rewrap|--out'|'transit rewrap|--token-file'|'transit datakey|--out'|'transit datakey|--token-file'|'transit random|--out'|'transit random|--token-file'|'transit hash|--in'|'transit hash|--out'|'transit hash|--token-file'|'transit hmac|--in'|'transit hmac|--batch'|'transit hmac|--out'|'transit hmac|--token-file'|'transit sign|--in'|'transit sign|--batch'|'transit sign|--out'|'transit sign|--token-file'|'transit verify|--in'|'transit verify|--batch'|'transit verify|--out'|'transit verify|--token-file'|'transit backup|--out'|'transit backup|--token-file'|'transit restore|--in'|'transit restore|--out'|'transit restore|--token-file'|'transit import|--in'|'transit import|--out'|'transit import|--token-file'|'transit import-version|--in'|'transit import-version|--out'|'transit import-version|--token-file'|'transit wrapping-key|--out'|'transit wrapping-key|--token-file'|'transit byok-export|--out'|'transit byok-export|--token-file'|'transit key-defaults|--out'|'transit key-defaults|--token-file'|'transit cache-config|--out'|'transit cache-config|--token-file'|'transit envelope|--token-file'|'transit envelope encrypt|--in'|'transit envelope encrypt|--out'|'transit envelope encrypt|--token-file'|'transit envelope decrypt|--in'|'transit envelope decrypt|--out'|'transit envelope decrypt|--token-file'|'transit envelope header|--in'|'transit envelope header|--out'|'transit envelope header|--token-file'|'transit envelope rewrap|--in'|'transit envelope rewrap|--token-file'|'token|--token-file'|'token create|--out'|'token create|--token-file'|'token list|--out'|'token list|--token-file'|'token lookup|--out'|'token lookup|--token-file'|'token renew|--out'|'token renew|--token-file'|'token revoke|--in'|'token revoke|--out'|'token revoke|--token-file'|'policy|--token-file'|'policy list|--out'|'policy list|--token-file'|'policy read|--out'|'policy read|--token-file'|'policy write|--out'|'policy write|--token-file'|'policy delete|--out'|'policy delete|--token-file'|'orgs|--token-file'|'orgs create|--out'|'orgs create|--token-file'|'orgs list|--out'|'orgs list|--token-file'|'orgs show|--out'|'orgs show|--token-file'|'orgs delete|--out'|'orgs delete|--token-file'|'workspaces|--token-file'|'workspaces create|--out'|'workspaces create|--token-file'|'workspaces list|--out'|'workspaces list|--token-file'|'workspaces show|--out'|'workspaces show|--token-file'|'workspaces update|--out'|'workspaces update|--token-file'|'workspaces tag|--out'|'workspaces tag|--token-file'|'workspaces untag|--out'|'workspaces untag|--token-file'|'workspaces delete|--out'|'workspaces delete|--token-file'|'tags|--token-file'|'tags create|--out'|'tags create|--token-file'|'tags list|--out'|'tags list|--token-file'|'tags show|--out'|'tags show|--token-file'|'tags delete|--out'|'tags delete|--token-file'|'tags attach|--out'|'tags attach|--token-file'|'tags detach|--out'|'tags detach|--token-file'|'tags of|--out'|'tags of|--token-file'|'mounts|--token-file'|'mounts list|--out'|'mounts list|--token-file'|'mounts add|--out'|'mounts add|--token-file'|'mounts remove|--out'|'mounts remove|--token-file'|'mounts move|--out'|'mounts move|--token-file'|'read|--out'|'read|--token-file'|'write|--out'|'write|--token-file'|'list|--out'|'list|--token-file'|'delete|--out'|'delete|--token-file'|'serve|--socket'|'serve|--tls-cert'|'serve|--tls-key'|'serve|--audit-log'|'serve|--token-file'|'version|--token-file'|'help|--token-file'|'completion|--token-file') echo 'files' ;;
    '|--mount'|'keygen|--mount'|'init|--mount'|'status|--mount'|'slots|--mount'|'slots list|--mount'|'slots add|--mount'|'slots remove|--mount'|'rekey|--mount'|'doctor|--mount'|'store|--mount'|'store backup|--mount'|'store restore|--mount'|'store copy|--mount'|'store migrate|--mount'|'transit|--mount'|'transit keys|--mount'|'transit keys create|--mount'|'transit keys read|--mount'|'transit keys list|--mount'|'transit keys config|--mount'|'transit keys rotate|--mount'|'transit keys trim|--mount'|'transit keys delete|--mount'|'transit keys export|--mount'|'transit encrypt|--mount'|'transit decrypt|--mount'|'transit rewrap|--mount'|'transit datakey|--mount'|'transit random|--mount'|'transit hash|--mount'|'transit hmac|--mount'|'transit sign|--mount'|'transit verify|--mount'|'transit backup|--mount'|'transit restore|--mount'|'transit import|--mount'|'transit import-version|--mount'|'transit wrapping-key|--mount'|'transit byok-export|--mount'|'transit key-defaults|--mount'|'transit cache-config|--mount'|'transit envelope|--mount'|'transit envelope encrypt|--mount'|'transit envelope decrypt|--mount'|'transit envelope header|--mount'|'transit envelope rewrap|--mount'|'token|--mount'|'token create|--mount'|'token list|--mount'|'token lookup|--mount'|'token renew|--mount'|'token revoke|--mount'|'policy|--mount'|'policy list|--mount'|'policy read|--mount'|'policy write|--mount'|'policy delete|--mount'|'orgs|--mount'|'orgs create|--mount'|'orgs list|--mount'|'orgs show|--mount'|'orgs delete|--mount'|'workspaces|--mount'|'workspaces create|--mount'|'workspaces list|--mount'|'workspaces show|--mount'|'workspaces update|--mount'|'workspaces tag|--mount'|'workspaces untag|--mount'|'workspaces delete|--mount'|'tags|--mount'|'tags create|--mount'|'tags list|--mount'|'tags show|--mount'|'tags delete|--mount'|'tags attach|--mount'|'tags detach|--mount'|'tags of|--mount'|'mounts|--mount'|'mounts list|--mount'|'mounts add|--mount'|'mounts remove|--mount'|'mounts move|--mount'|'read|--mount'|'write|--mount'|'list|--mount'|'delete|--mount'|'serve|--mount'|'version|--mount'|'help|--mount'|'completion|--mount') echo 'names mount' ;;
    '|--org'|'keygen|--org'|'init|--org'|'status|--org'|'slots|--org'|'slots list|--org'|'slots add|--org'|'slots remove|--org'|'rekey|--org'|'doctor|--org'|'store|--org'|'store backup|--org'|'store restore|--org'|'store copy|--org'|'store migrate|--org'|'transit|--org'|'transit keys|--org'|'transit keys create|--org'|'transit keys read|--org'|'transit keys list|--org'|'transit keys config|--org'|'transit keys rotate|--org'|'transit keys trim|--org'|'transit keys delete|--org'|'transit keys export|--org'|'transit encrypt|--org'|'transit decrypt|--org'|'transit rewrap|--org'|'transit datakey|--org'|'transit random|--org'|'transit hash|--org'|'transit hmac|--org'|'transit sign|--org'|'transit verify|--org'|'transit backup|--org'|'transit restore|--org'|'transit import|--org'|'transit import-version|--org'|'transit wrapping-key|--org'|'transit byok-export|--org'|'transit key-defaults|--org'|'transit cache-config|--org'|'transit envelope|--org'|'transit envelope encrypt|--org'|'transit envelope decrypt|--org'|'transit envelope header|--org'|'transit envelope rewrap|--org'|'token|--org'|'token create|--org'|'token list|--org'|'token lookup|--org'|'token renew|--org'|'token revoke|--org'|'policy|--org'|'policy list|--org'|'policy read|--org'|'policy write|--org'|'policy delete|--org'|'orgs|--org'|'orgs create|--org'|'orgs list|--org'|'orgs show|--org'|'orgs delete|--org'|'workspaces|--org'|'workspaces create|--org'|'workspaces list|--org'|'workspaces show|--org'|'workspaces update|--org'|'workspaces tag|--org'|'workspaces untag|--org'|'workspaces delete|--org'|'tags|--org'|'tags create|--org'|'tags list|--org'|'tags show|--org'|'tags delete|--org'|'tags attach|--org'|'tags detach|--org'|'tags of|--org'|'mounts|--org'|'mounts list|--org'|'mounts add|--org'|'mounts remove|--org'|'mounts move|--org'|'read|--org'|'write|--org'|'list|--org'|'delete|--org'|'serve|--org'|'version|--org'|'help|--org'|'completion|--org') echo 'names organization' ;;
    '|--output'|'|-o'|'keygen|--output'|'keygen|-o'|'init|--output'|'init|-o'|'status|--output'|'status|-o'|'slots|--output'|'slots|-o'|'slots list|--output'|'slots list|-o'|'slots add|--output'|'slots add|-o'|'slots remove|--output'|'slots remove|-o'|'rekey|--output'|'rekey|-o'|'doctor|--output'|'doctor|-o'|'store|--output'|'store|-o'|'store backup|--output'|'store backup|-o'|'store restore|--output'|'store restore|-o'|'store copy|--output'|'store copy|-o'|'store migrate|--output'|'store migrate|-o'|'transit|--output'|'transit|-o'|'transit keys|--output'|'transit keys|-o'|'transit keys create|--output'|'transit keys create|-o'|'transit keys read|--output'|'transit keys read|-o'|'transit keys list|--output'|'transit keys list|-o'|'transit keys config|--output'|'transit keys config|-o'|'transit keys rotate|--output'|'transit keys rotate|-o'|'transit keys trim|--output'|'transit keys trim|-o'|'transit keys delete|--output'|'transit keys delete|-o'|'transit keys export|--output'|'transit keys export|-o'|'transit encrypt|--output'|'transit encrypt|-o'|'transit decrypt|--output'|'transit decrypt|-o'|'transit rewrap|--output'|'transit rewrap|-o'|'transit datakey|--output'|'transit datakey|-o'|'transit random|--output'|'transit random|-o'|'transit hash|--output'|'transit hash|-o'|'transit hmac|--output'|'transit hmac|-o'|'transit sign|--output'|'transit sign|-o'|'transit verify|--output'|'transit verify|-o'|'transit backup|--output'|'transit backup|-o'|'transit restore|--output'|'transit restore|-o'|'transit import|--output'|'transit import|-o'|'transit import-version|--output'|'transit import-version|-o'|'transit wrapping-key|--output'|'transit wrapping-key|-o'|'transit byok-export|--output'|'transit byok-export|-o'|'transit key-defaults|--output'|'transit key-defaults|-o'|'transit cache-config|--output'|'transit cache-config|-o'|'transit envelope|--output'|'transit envelope|-o'|'transit envelope encrypt|--output'|'transit envelope encrypt|-o'|'transit envelope decrypt|--output'|'transit envelope decrypt|-o'|'transit envelope header|--output'|'transit envelope header|-o'|'transit envelope rewrap|--output'|'transit envelope rewrap|-o'|'token|--output'|'token|-o'|'token create|--output'|'token create|-o'|'token list|--output'|'token list|-o'|'token lookup|--output'|'token lookup|-o'|'token renew|--output'|'token renew|-o'|'token revoke|--output'|'token revoke|-o'|'policy|--output'|'policy|-o'|'policy list|--output'|'policy list|-o'|'policy read|--output'|'policy read|-o'|'policy write|--output'|'policy write|-o'|'policy delete|--output'|'policy delete|-o'|'orgs|--output'|'orgs|-o'|'orgs create|--output'|'orgs create|-o'|'orgs list|--output'|'orgs list|-o'|'orgs show|--output'|'orgs show|-o'|'orgs delete|--output'|'orgs delete|-o'|'workspaces|--output'|'workspaces|-o'|'workspaces create|--output'|'workspaces create|-o'|'workspaces list|--output'|'workspaces list|-o'|'workspaces show|--output'|'workspaces show|-o'|'workspaces update|--output'|'workspaces update|-o'|'workspaces tag|--output'|'workspaces tag|-o'|'workspaces untag|--output'|'workspaces untag|-o'|'workspaces delete|--output'|'workspaces delete|-o'|'tags|--output'|'tags|-o'|'tags create|--output'|'tags create|-o'|'tags list|--output'|'tags list|-o'|'tags show|--output'|'tags show|-o'|'tags delete|--output'|'tags delete|-o'|'tags attach|--output'|'tags attach|-o'|'tags detach|--output'|'tags detach|-o'|'tags of|--output'|'tags of|-o'|'mounts|--output'|'mounts|-o'|'mounts list|--output'|'mounts list|-o'|'mounts add|--output'|'mounts add|-o'|'mounts remove|--output'|'mounts remove|-o'|'mounts move|--output'|'mounts move|-o'|'read|--output'|'read|-o'|'write|--output'|'write|-o'|'list|--output'|'list|-o'|'delete|--output'|'delete|-o'|'serve|--output'|'serve|-o'|'version|--output'|'version|-o'|'help|--output'|'help|-o'|'completion|--output'|'completion|-o') echo 'words table json raw' ;;
    'init|--dialect'|'mounts add|--dialect'|'serve|--dialect') echo 'words service vault' ;;
    'transit keys create|--type'|'transit import|--type') echo 'words aes128-gcm96 aes256-gcm96 chacha20-poly1305 xchacha20-poly1305 ed25519 ecdsa-p256 ecdsa-p384 ecdsa-p521 rsa-2048 rsa-3072 rsa-4096 ml-dsa-44 ml-dsa-65 ml-dsa-87 slh-dsa-sha2-128s slh-dsa-sha2-128f slh-dsa-sha2-192s slh-dsa-sha2-192f slh-dsa-sha2-256s slh-dsa-sha2-256f hmac' ;;
    'transit keys export|--key-type') echo 'words encryption-key signing-key hmac-key public-key certificate-chain' ;;
    'transit keys export|--format') echo 'words raw der pem' ;;
    'transit encrypt|--type') echo 'words aes128-gcm96 aes256-gcm96 chacha20-poly1305 xchacha20-poly1305' ;;
    'transit datakey|--bits') echo 'words 128 256 512' ;;
    'transit random|--format') echo 'words base64 hex' ;;
    'transit hash|--algorithm') echo 'words sha2-224 sha2-256 sha2-384 sha2-512 sha3-224 sha3-256 sha3-384 sha3-512' ;;
    'transit hash|--format') echo 'words hex base64' ;;
    'transit hmac|--algorithm'|'transit sign|--hash-algorithm'|'transit sign|--algorithm'|'transit verify|--hash-algorithm'|'transit verify|--algorithm') echo 'words sha1 sha2-224 sha2-256 sha2-384 sha2-512 sha3-224 sha3-256 sha3-384 sha3-512' ;;
    'transit sign|--signature-algorithm'|'transit verify|--signature-algorithm') echo 'words pss pkcs1v15' ;;
    'transit sign|--marshaling-algorithm'|'transit verify|--marshaling-algorithm') echo 'words asn1 jws' ;;
    'transit sign|--salt-length'|'transit verify|--salt-length') echo 'words auto hash' ;;
    'transit import|--hash-function'|'transit import-version|--hash-function'|'transit byok-export|--hash') echo 'words SHA1 SHA224 SHA256 SHA384 SHA512' ;;
    'token create|--policy') echo 'names policy' ;;
    'workspaces create|--tag'|'workspaces list|--tag'|'workspaces list|--exclude-tag') echo 'names tag' ;;
    'workspaces list|--sort') echo 'words name -name' ;;
    'tags list|--exclude-taggable'|'tags attach|--workspace'|'tags detach|--workspace') echo 'names workspace' ;;
    *) return 1 ;;
  esac
}

_coffer_argument() {
  case "$1|$2" in
    'slots remove|0'|'transit keys create|0'|'transit encrypt|1'|'transit decrypt|1'|'transit rewrap|1'|'transit random|0'|'transit hash|0'|'transit hmac|1'|'transit sign|1'|'transit verify|1'|'transit restore|0'|'transit restore|1'|'transit import|0'|'transit import|1'|'transit import-version|1'|'token lookup|0'|'token renew|0'|'token revoke|0'|'orgs create|0'|'orgs list|0'|'workspaces create|0'|'workspaces list|0'|'tags create|0+'|'tags list|0'|'tags of|1'|'mounts move|1'|'read|0'|'read|1+'|'write|0'|'write|1+'|'list|0'|'delete|0'|'delete|1+') echo 'unknown' ;;
    'store backup|0'|'store restore|0'|'policy write|1') echo 'files' ;;
    'store copy|0'|'store copy|1') echo 'directories' ;;
    'transit keys read|0'|'transit keys config|0'|'transit keys rotate|0'|'transit keys trim|0'|'transit keys delete|0'|'transit keys export|0'|'transit encrypt|0'|'transit decrypt|0'|'transit rewrap|0'|'transit datakey|1'|'transit hmac|0'|'transit sign|0'|'transit verify|0'|'transit backup|0'|'transit import-version|0'|'transit byok-export|0'|'transit byok-export|1'|'transit envelope encrypt|0'|'transit envelope decrypt|0'|'transit envelope header|0'|'transit envelope rewrap|0') echo 'names key' ;;
    'transit datakey|0') echo 'words plaintext wrapped' ;;
    'policy read|0'|'policy write|0'|'policy delete|0') echo 'names policy' ;;
    'orgs show|0'|'orgs delete|0') echo 'names organization' ;;
    'workspaces show|0'|'workspaces update|0'|'workspaces tag|0'|'workspaces untag|0'|'workspaces delete|0'|'tags of|0') echo 'names workspace' ;;
    'workspaces tag|1+'|'workspaces untag|1+'|'tags show|0'|'tags delete|0+'|'tags attach|0'|'tags detach|0') echo 'names tag' ;;
    'mounts add|0'|'mounts remove|0'|'mounts move|0') echo 'names mount' ;;
    'help|0+') echo 'words keygen init status slots rekey doctor store transit token policy orgs workspaces tags mounts read write list delete serve version help completion environment exit-codes' ;;
    'completion|0') echo 'words bash zsh fish' ;;
    *) return 1 ;;
  esac
}

_coffer_many() {
  local at=$2
  while ((at >= 0)); do
    _coffer_argument "$1" "$at+" && return
    at=$((at - 1))
  done
  return 1
}

_coffer_offer() {
  local kind=${1%% *} rest=${1#* }
  case $kind in
    words) COMPREPLY=($(compgen -W "$rest" -- "$cur")) ;;
    names) _coffer_names "$rest" ;;
    files) COMPREPLY=($(compgen -f -- "$cur")); compopt -o filenames 2>/dev/null ;;
    directories) COMPREPLY=($(compgen -d -- "$cur")); compopt -o filenames 2>/dev/null ;;
  esac
}

# Names were chosen by others, maybe on another machine, so nothing in them may be expanded, now or when the line is
# entered. compgen -W would run what stands in $(…).
_coffer_names() {
  local name quoted
  while IFS= read -r name; do
    [[ $name == "$cur"* ]] || continue
    printf -v quoted %q "$name"
    COMPREPLY+=("$quoted")
  done < <(coffer complete "$1" -- "${words[@]}" "$cur" 2>/dev/null)
}

_coffer() {
  COMPREPLY=()
  # The words are cut at spaces alone: bash would also cut them at the colons of tags.
  local line=${COMP_LINE:0:COMP_POINT} cur='' previous='' place='' position=0 skip='' word values
  local -a words=()
  read -ra words <<< "$line"
  if [[ $line != *' ' ]]; then
    cur=${words[${#words[@]}-1]}
    unset "words[${#words[@]}-1]"
  fi
  for word in "${words[@]:1}"; do
    if [[ -n $skip ]]; then skip=''; continue; fi
    if [[ $word == -* ]]; then
      _coffer_values "$place" "$word" >/dev/null && skip=$word
    elif _coffer_children "${place:+$place }$word" >/dev/null; then
      place=${place:+$place }$word
    else
      position=$((position + 1))
    fi
  done
  if [[ -n $skip ]]; then
    _coffer_offer "$(_coffer_values "$place" "$skip")"
  elif [[ $cur == --*=* ]]; then
    previous=${cur%%=*}
    cur=${cur#*=}
    values=$(_coffer_values "$place" "$previous") && _coffer_offer "$values"
  elif [[ $cur == -* ]]; then
    COMPREPLY=($(compgen -W "$(_coffer_flags "$place")" -- "$cur"))
  elif [[ -n $(_coffer_children "$place") ]]; then
    COMPREPLY=($(compgen -W "$(_coffer_children "$place")" -- "$cur"))
  else
    values=$(_coffer_argument "$place" "$position" || _coffer_many "$place" "$position") && _coffer_offer "$values"
  fi
  # What bash replaces begins after the last colon.
  if [[ $cur == *:* && $COMP_WORDBREAKS == *:* ]]; then
    local before=${cur%"${cur##*:}"} i
    for i in "${!COMPREPLY[@]}"; do COMPREPLY[i]=${COMPREPLY[i]#"$before"}; done
  fi
}

complete -F _coffer coffer
