import { equal, match, ok } from 'node:assert/strict';
import { once } from 'node:events';
import { copyFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Agent, withAgent } from '../agent.ts';
import { type Bench, type Client, shell } from '../client.ts';
import { debianPackages } from '../debian.ts';

/** That of Debian 12. */
const version = '0.24.1';

const KEYS = { web: 'ecdsa-p256', pay: 'rsa-2048', big: 'ecdsa-p521' };
const LIBRARIES = 'usr/lib/x86_64-linux-gnu';

/** What programs need to find one another in the folder where they are unpacked. */
const variablesOf = ({ installed }: Bench): Readonly<Record<string, string>> => {
  const at = (path: string): string => join(installed, path);
  return {
    PATH: `${at('usr/bin')}:${at('usr/sbin')}:${process.env['PATH']}`,
    LD_LIBRARY_PATH: at(LIBRARIES),
    OPENSSL_ENGINES: at(`${LIBRARIES}/engines-3`),
    MODULE: at(`${LIBRARIES}/pkcs11/p11-kit-client.so`),
    PKCS11_MODULE_PATH: at(`${LIBRARIES}/pkcs11/p11-kit-client.so`),
  };
};

/** Our own command, and what is long. */
const SHORTHAND = `
  tool() { pkcs11-tool --module "$MODULE" "$@" 2>> said; }
  id() { printf %s "$1" | od -An -tx1 | tr -d ' \\n'; }
  uri() { printf 'pkcs11:token=coffer;object=%s;type=private' "$1"; }
  public() { coffer transit keys public "$1" --format pem > "$1.pem"; }
  echo hello > file; openssl dgst -sha256 -binary file > digest
`;

function typed(bench: Bench, { environment }: Agent, lines: string): Promise<string> {
  const own = bench.commandLine.map((word) => `'${word}'`).join(' ');
  const all = { ...environment, ...variablesOf(bench) };
  return shell(bench, `coffer() { LD_LIBRARY_PATH= ${own} "$@"; }\n${SHORTHAND}\n${lines}`, {
    environment: all,
  });
}

/** An agent that offers keys to programs of PKCS #11. */
const withToken = (bench: Bench, work: (agent: Agent) => Promise<void>): Promise<void> =>
  withAgent(bench, KEYS, async (agent) => {
    for (const name of Object.keys(KEYS)) await agent.coffer('agent', 'offer', name, '--pkcs11');
    await work(agent);
  });

const freePort = async (): Promise<number> => {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  if (address === null || typeof address === 'string') throw new Error('there is no port');
  return address.port;
};

/** Requests made by Coffer, with the subject of a template, and certificates of an authority, which Coffer keeps. */
const CERTIFIED = `
  openssl req -x509 -newkey rsa:2048 -nodes -keyout ca.key -out ca.pem -subj /CN=Authority -days 2 2>> said
  openssl req -new -newkey rsa:2048 -nodes -keyout other.key -subj /CN=localhost -out template.csr 2>> said
  for name in web pay; do
    coffer transit keys csr $name --in template.csr > $name.csr
    openssl x509 -req -in $name.csr -CA ca.pem -CAkey ca.key -CAcreateserial -days 1 -out leaf.pem 2>> said
    cat leaf.pem ca.pem | coffer transit keys set-certificate $name
  done
`;

/** Starts what listens, waits for its first answer, and shakes hands some times. */
const handshakes = (start: string, port: number): string => `
  ${start} > server.log 2>&1 & server=$!
  trap 'kill $server' EXIT
  hands() { openssl s_client -connect 127.0.0.1:${port} -CAfile ca.pem -verify_hostname localhost -verify_return_error < /dev/null 2>> said; }
  for attempt in $(seq 100); do hands > hands.log && break; sleep 0.1; done
  for count in 1 2 3; do hands | grep -E '^(Verify return code|Peer signature type|    Verify return code)'; done
`;

const nginxOn = (port: number, { directory }: Bench): string => `
daemon off;
pid ${directory}/nginx.pid;
error_log stderr;
user ${process.getuid?.() === 0 ? 'root' : 'nobody'};
worker_processes 2;
env P11_KIT_SERVER_ADDRESS;
env PKCS11_MODULE_PATH;
ssl_engine pkcs11;
events { worker_connections 64; }
http {
  access_log off;
  ${['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((name) => `${name}_temp_path ${directory}/${name};`).join('\n  ')}
  server {
    listen 127.0.0.1:${port} ssl;
    ssl_certificate ${directory}/web.pem;
    ssl_certificate_key "engine:pkcs11:pkcs11:token=coffer;object=web;type=private";
    ssl_session_cache off;
    location / { return 200 "served\\n"; }
  }
}
`;

export const client: Client = {
  title: 'p11-kit',
  version,
  minutes: 10,
  async install(machine) {
    for (const program of ['openssl', 'od']) await machine.need('which', [program]);
    return debianPackages(machine, 'p11-kit', [
      ...[
        'p11-kit-modules',
        'opensc',
        'opensc-pkcs11',
        'libeac3',
        'libpcsclite1',
        'gnutls-bin',
        'libgnutls-dane0',
      ],
      ...['libunbound8', 'libopts25', 'libengine-pkcs11-openssl', 'nginx', 'nginx-common'],
    ]);
  },
  checks: {
    async 'OpenSC lists what is offered, and passes its own tests'(bench) {
      await withToken(bench, async (agent) => {
        match(await typed(bench, agent, 'tool -L'), /token label\s+: coffer/);
        const listed = await typed(bench, agent, 'tool -O');
        for (const name of Object.keys(KEYS)) ok(listed.includes(`label:      ${name}\n`));
        match(await typed(bench, agent, 'tool --test --login --pin 0000'), /No errors/);
        await agent.coffer('agent', 'withdraw', 'web');
        ok(!(await typed(bench, agent, 'tool -O')).includes('web'));
      });
    },
    async 'OpenSC signs and decrypts'(bench) {
      await withToken(bench, async (agent) => {
        const lines = `
          public web; public pay
          tool --sign -m ECDSA --id $(id web@v1) -i digest --signature-format openssl -o a
          openssl dgst -sha256 -verify web.pem -signature a file
          tool --sign -m SHA256-RSA-PKCS --id $(id pay@v1) -i file -o b
          openssl dgst -sha256 -verify pay.pem -signature b file
          tool --sign -m RSA-PKCS-PSS --hash-algorithm SHA256 --mgf MGF1-SHA256 --salt-len 32 --id $(id pay@v1) -i digest -o c
          openssl dgst -sha256 -sigopt rsa_padding_mode:pss -sigopt rsa_pss_saltlen:32 -verify pay.pem -signature c file
          openssl pkeyutl -encrypt -pubin -inkey pay.pem -in file -out d -pkeyopt rsa_padding_mode:oaep -pkeyopt rsa_oaep_md:sha256
          tool --decrypt -m RSA-PKCS-OAEP --hash-algorithm SHA256 --mgf MGF1-SHA256 --id $(id pay@v1) -i d`;
        equal(await typed(bench, agent, lines), `${'Verified OK\n'.repeat(3)}hello\n`);
      });
    },
    async 'GnuTLS lists, and signs in its own tests'(bench) {
      await withToken(bench, async (agent) => {
        const lines = `
          p11tool --provider "$MODULE" --list-all 'pkcs11:token=coffer' 2>&1
          for name in web pay big; do p11tool --provider "$MODULE" --test-sign "$(uri $name)" 2>&1; done
          p11tool --provider "$MODULE" --test-sign --sign-params=rsa-pss --hash sha256 "$(uri pay)" 2>&1`;
        const said = await typed(bench, agent, lines);
        match(said, /object=web;type=public/);
        equal(said.match(/Verifying against public key in the token\.\.\. ok/g)?.length, 4);
      });
    },
    async 'OpenSSL signs, asks for certificates and decrypts with its engine'(bench) {
      await withToken(bench, async (agent) => {
        const lines = `
          engine='-engine pkcs11 -keyform engine'
          for name in web pay big; do
            public $name
            openssl dgst $engine -sign "$(uri $name)" -sha256 -out signature file 2>> said
            openssl dgst -sha256 -verify $name.pem -signature signature file
            openssl req -new $engine -key "$(uri $name)" -subj /CN=$name -out request 2>> said
            openssl req -verify -noout -in request 2>&1
          done
          openssl pkeyutl -encrypt -pubin -inkey pay.pem -in file -out d -pkeyopt rsa_padding_mode:oaep -pkeyopt rsa_oaep_md:sha256
          openssl pkeyutl -decrypt $engine -inkey "$(uri pay)" -in d -pkeyopt rsa_padding_mode:oaep -pkeyopt rsa_oaep_md:sha256 2>> said`;
        const each = 'Verified OK\nCertificate request self-signature verify OK\n';
        equal(await typed(bench, agent, lines), `${each.repeat(3)}hello\n`);
      });
    },
    async 'OpenSSL serves TLS with a key and its certificate'(bench) {
      await withToken(bench, async (agent) => {
        const port = await freePort();
        const start = `openssl s_server -engine pkcs11 -keyform engine -key "$(uri pay)" -cert pay.pem -accept 127.0.0.1:${port} -quiet`;
        const lines = `${CERTIFIED}
          p11tool --provider "$MODULE" --export 'pkcs11:token=coffer;object=pay;type=cert' > pay.pem 2>> said
          ${handshakes(start, port)}`;
        const shaken = await typed(bench, agent, lines);
        equal(shaken.match(/Peer signature type: RSA-PSS/g)?.length, 3);
        ok((shaken.match(/Verify return code: 0 \(ok\)/g)?.length ?? 0) >= 3);
      });
    },
    async 'nginx serves TLS with a key and its certificate'(bench) {
      await withToken(bench, async (agent) => {
        const port = await freePort();
        writeFileSync(join(bench.directory, 'nginx.conf'), nginxOn(port, bench));
        const lines = `${CERTIFIED}
          coffer transit keys export web --key-type certificate-chain > web.pem; [ "$(grep -c BEGIN web.pem)" = 2 ] || exit 1
          ${handshakes('nginx -p "$PWD" -c nginx.conf', port)}`;
        const shaken = await typed(bench, agent, lines);
        equal(shaken.match(/Peer signature type: ECDSA/g)?.length, 3);
        ok((shaken.match(/Verify return code: 0 \(ok\)/g)?.length ?? 0) >= 3);
      });
    },
    async 'Java signs through SunPKCS11'(bench) {
      await bench.run('java', ['-version']);
      await withToken(bench, async (agent) => {
        copyFileSync(
          fileURLToPath(new URL('Signing.java', import.meta.url)),
          join(bench.directory, 'Signing.java'),
        );
        const said = await typed(bench, agent, `${CERTIFIED}\nLD_LIBRARY_PATH= java Signing.java "$MODULE"`);
        match(said, /^web SHA256withECDSA true$/m);
        match(said, /^pay SHA256withRSA true$/m);
      });
    },
  },
};
