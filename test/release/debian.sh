#!/bin/bash
# What test/release/debian.ts runs as root in a fresh minimal Debian, where /tmp/coffer.deb is all that there is of Coffer.
set -euo pipefail
export DEBIAN_FRONTEND=noninteractive LC_ALL=C.UTF-8 HOME=/root PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
unset NODE_EXTRA_CA_CERTS
cd /tmp
mount -t tmpfs tmpfs /dev/shm

passed() { printf 'ok  %s\n' "$1"; }
fail() { printf 'FAILED  %s\n' "$1" >&2; exit 1; }
quiet() { "$@" > /tmp/log 2>&1 || { cat /tmp/log; fail "$*"; }; }
# Everything that a package may leave, without what apt and dpkg write about their own work.
everything() {
  find / -xdev \( -path /proc -o -path /run -o -path /tmp -o -path /var/cache -o -path /var/lib/dpkg -o -path /var/lib/apt -o -path /var/log/apt \) -prune -o -print | sort
  cut -d: -f1 /etc/passwd /etc/group
}
trap 'jobs -p | xargs -r kill 2>/dev/null || true' EXIT

# The first user that is added to a system makes copies of these.
touch /etc/passwd- /etc/group- /etc/shadow- /etc/gshadow- /etc/subuid- /etc/subgid-
everything > before
quiet apt-get install -y ./coffer.deb
[ "$(stat -c '%U %a' /var/lib/coffer)" = 'coffer 700' ] || fail 'the directory of the store'
coffer version > /dev/null
[ "$(readlink -f /usr/bin/age-plugin-coffer)" = /usr/bin/coffer ] || fail 'age-plugin-coffer'
dpkg --verify coffer || fail 'files as they were packed'
quiet apt-get purge -y coffer
everything > after
diff before after || fail 'nothing is left after a purge'
passed 'installed, purged, and nothing left'

quiet apt-get install -y ./earlier.deb
quiet useradd --create-home ada
install -o ada -m 644 README.md five-minutes.sh /home/ada
(cd /home/ada && quiet runuser -u ada -- env -i HOME=/home/ada PATH="$PATH" bash five-minutes.sh)
grep -q '^five minutes: done$' log || fail 'the end of the five minutes'
passed "the README's five minutes, with nothing but the package"

# As README.Debian has it, up to what systemd would do.
sed -n 's/^  //p' /usr/share/doc/coffer/README.Debian | sed '/systemctl/,$d' > first-start.sh
quiet bash -euo pipefail first-start.sh
unit=/usr/lib/systemd/system/coffer.service
echo 'SERVE_OPTIONS=--listen 127.0.0.1:0' >> /etc/default/coffer
install -d -m 755 /run/credentials/coffer.service
# systemd gives the user a right of its own to a file of root's; a group's is the nearest to that.
install -m 440 -o root -g coffer /etc/coffer/master.key /run/credentials/coffer.service/master.key
variables() {
  sed -n 's/^Environment=//p' $unit
  grep -v '^#' /etc/default/coffer | grep . || true
}
start() {
  mapfile -t given < <(variables)
  line=$(sed -n 's/^ExecStart=//p' $unit)
  # The server before left its own there, and the redirection below takes effect at some time.
  rm -f addresses server.pid
  runuser -u coffer -- env -i PATH="$PATH" "${given[@]}" sh -c "umask 077; echo \$\$ > /tmp/server.pid; exec $line" > addresses 2> server.log &
  for _ in $(seq 300); do [ -s addresses ] && break; sleep 0.1; done
  [ -s addresses ] || { cat server.log; fail 'the line of the unit'; }
  address=$(head -1 addresses)
  server=$(cat server.pid)
}
ask() { COFFER_TOKEN=$(cat admin.token) coffer transit keys list --address "$address" > /dev/null; }
[ "$(stat -c '%U %a' admin.token)" = 'root 600' ] || fail "the mode of the owner's token"
start
coffer health --address "$address" > /dev/null
ask
[ "$(stat -c '%U %a' /var/log/coffer/audit.log)" = 'coffer 600' ] || fail 'the mode of the audit log'
passed "the first start, by README.Debian and the unit's own line"

mv /var/log/coffer/audit.log /var/log/coffer/audit.log.0
kill -HUP "$server"
ask
for _ in $(seq 100); do [ -s /var/log/coffer/audit.log ] && break; sleep 0.1; ask; done
[ -s /var/log/coffer/audit.log ] || fail 'a fresh audit log after SIGHUP'
passed 'a fresh audit log after SIGHUP'

echo '# mine' >> /etc/default/coffer
dpkg-query --show --showformat='${Version}' coffer | grep -q '~earlier$' || fail 'the earlier version'
quiet apt-get install -y ./coffer.deb
dpkg-query --show --showformat='${Version}' coffer | grep -vq '~earlier$' || fail 'the upgrade'
grep -q '^# mine' /etc/default/coffer || fail 'what was changed in the configuration'
ask
kill "$server"
wait
start
ask
passed 'upgraded: configuration and store stay'

quiet apt-get update
quiet apt-get install -y --no-install-recommends bash-completion git logrotate man-db
logrotate --force /etc/logrotate.d/coffer
for _ in $(seq 100); do ask; [ -s /var/log/coffer/audit.log ] && break; sleep 0.1; done
[ -s /var/log/coffer/audit.log.1 ] && [ -s /var/log/coffer/audit.log ] || fail 'the rotation of the audit log'
passed 'logrotate, and no request left out'

bash -c 'source /usr/share/bash-completion/bash_completion; _completion_loader coffer; complete -p coffer' | grep -q coffer || fail 'completion in bash'
man coffer-transit-encrypt | grep -q 'Encrypt a value with a named key' || fail 'man'
man 5 coffer-secrets > /dev/null
passed 'completion in bash, and the manual'

cat > /home/ada/git.sh <<'END'
export COFFER_PASSPHRASE='a passphrase for nothing but this test 7391' HOME=/home/ada
git config --global user.name Ada
git config --global user.email ada@example.org
coffer init
coffer unlock
unset COFFER_PASSPHRASE
coffer transit keys create app
git init --quiet shop
cd shop
echo DB_PASSWORD=s3cret > .env
printf 'rules:\n  - files: .env\n    key: app\n' > .coffer.yaml
coffer secrets encrypt .env
grep -q '^DB_PASSWORD=coffer:app:v1:' .env
coffer secrets git-setup
git add .env .coffer.yaml .gitattributes
git commit --quiet -m 'Keep secrets encrypted'
EDITOR='sed -i s/s3cret/other/' coffer edit .env
git diff | grep -q '^+DB_PASSWORD=other'
[ "$(coffer exec -f .env -- printenv DB_PASSWORD)" = other ]
coffer lock
END
(cd /home/ada && quiet runuser -u ada -- env -i PATH="$PATH" bash -euxo pipefail git.sh)
passed 'secrets in git, and the agent'

kill "$server"
wait
quiet apt-get remove -y coffer
[ ! -e /usr/bin/coffer ] && [ -e /etc/default/coffer ] && [ -d /var/lib/coffer/store ] || fail 'remove'
quiet apt-get purge -y coffer
grep -q 'rm -r /var/lib/coffer /etc/coffer' log || fail 'the word about what is left'
[ -d /var/lib/coffer/store ] && [ -e /etc/coffer/master.key ] || fail 'the store and its key are left'
[ ! -e /etc/default/coffer ] && [ ! -e /var/log/coffer ] && [ ! -e /etc/logrotate.d/coffer ] || fail 'purge'
getent passwd coffer > /dev/null || fail 'the user of what is left'
# With what is left the package goes on where it was.
quiet apt-get install -y ./coffer.deb
echo 'SERVE_OPTIONS=--listen 127.0.0.1:0' >> /etc/default/coffer
start
ask
kill "$server"
wait
rm -r /var/lib/coffer /etc/coffer
quiet apt-get purge -y coffer
[ ! -e /var/lib/coffer ] && ! getent passwd coffer > /dev/null || fail 'purge without a store'
passed 'removed and purged: a store stays until it is deleted by hand'
