import { createSecretKey } from 'node:crypto';
import { Acl } from '../../src/access/acl.ts';
import { AuditRecorder } from '../../src/access/audit-record.ts';
import { allowsOrigin } from '../../src/access/cors.ts';
import { checkForm, hasUniqueNames } from '../../src/access/methods/jwt/signed-token.ts';
import { parsePolicy } from '../../src/access/policy.ts';
import { readCertificate } from '../../src/access/x509/certificate.ts';
import { parseRevocationList } from '../../src/access/x509/revocation-list.ts';
import { parseFields } from '../../src/doors/agent/grpc/protobuf.ts';
import { readCall } from '../../src/doors/agent/pkcs11/rpc/calls.ts';
import { parseAgentRequest } from '../../src/doors/agent/ssh/messages.ts';
import type { Exchange } from '../../src/doors/http/exchange.ts';
import { parseForm, parseObject, parseQuery } from '../../src/doors/http/request-body.ts';
import { readVaultRequest } from '../../src/doors/http/vault/request.ts';
import { decodeBase64 } from '../../src/ground/base64.ts';
import { readDer } from '../../src/ground/der.ts';
import { parseGoDuration } from '../../src/ground/durations.ts';
import { glob } from '../../src/ground/glob.ts';
import { pemBlocks } from '../../src/ground/pem.ts';
import { catalogue } from '../../src/operations/catalogue.ts';
import { parsePairs } from '../../src/operations/declaration/weak-values.ts';
import { spellingsOf } from '../../src/operations/pipeline/endpoints.ts';
import { loadRoutes, mountedRoutes, RouteTable, routesUnder } from '../../src/operations/routes.ts';
import { dotenv } from '../../src/secret-files/dotenv.ts';
import { json } from '../../src/secret-files/json.ts';
import { parseValue } from '../../src/secret-files/value.ts';
import { yaml } from '../../src/secret-files/yaml.ts';
import { parseAllowedSigners } from '../../src/signatures/allowed-signers.ts';
import { parseManifest } from '../../src/signatures/manifest.ts';
import { parseMinisignKey, parseMinisignSignature } from '../../src/signatures/minisign.ts';
import { parsePublicKeys } from '../../src/signatures/public-key.ts';
import { parseRevokedKeys, parseSshLine } from '../../src/signatures/ssh-key.ts';
import { parseEncryptedSshKey, parseSshPrivateKey } from '../../src/signatures/ssh-private-key.ts';
import { parseSshSignature } from '../../src/signatures/ssh-signature.ts';
import { parseAddress } from '../../src/store/backends/postgres/address.ts';
import { csv } from '../../src/tag-files/csv.ts';
import { parseFact } from '../../src/team/fact.ts';
import { isRecipient } from '../../src/team/recipients.ts';
import { readBackupDocument } from '../../src/transit/backup/document.ts';
import { readAge } from '../../src/transit/envelope/age/file.ts';
import { parseWrappedKeys } from '../../src/transit/envelope/envelope.ts';
import { parsePrefix, parseSealedHeader } from '../../src/transit/envelope/header.ts';
import { Lookahead } from '../../src/transit/envelope/ports.ts';
import { parseBech32 } from '../../src/transit/key-types/age/bech32.ts';
import { FakeClock } from '../access/room.ts';
import { sourceOf } from '../transit/envelope/in-memory.ts';

/** Something that takes what a stranger sent, and may refuse it. */
export interface Parser {
  take(text: string): unknown;
  readonly starts?: readonly string[];
  /** It reads a hundred times as long as others, so that one in so many texts has to do where not all are tried. */
  readonly oneIn?: number;
}

const recorder = new AuditRecorder(createSecretKey(Buffer.alloc(32, 7)), new FakeClock());
const audited = { id: 'x', operation: 'update', path: 'a', remoteAddress: '' };
const bytes = (text: string): Buffer => Buffer.from(text, 'latin1');
const routes = await loadRoutes(catalogue);
const tables = [
  new RouteTable(routesUnder(routes, 'vault')),
  new RouteTable(routesUnder(routes, 'json-api'), decodeURIComponent),
  ...mountedRoutes(routes).values(),
];
const firsts = [
  ...new Set(
    tables.flatMap(({ routes: all }) =>
      all.map(({ route }) => {
        const [first] = route.parts;
        return first !== undefined && 'text' in first ? first.text : '';
      }),
    ),
  ),
];
const acl = new Acl(
  parsePolicy('path "sys/*" { capabilities = ["list"] }\npath "+/+/a*" { capabilities = ["read"] }').rules,
);

/** Of a request's target and header, as far as they are read before anybody looks who asks. */
const exchange = (target: string, method: string, header = ''): Exchange =>
  ({ method, target, headers: { 'x-vault-wrap-ttl': header }, remoteAddress: '' }) as unknown as Exchange;

/** Everything that reads what comes from outside of the program, by its name. */
export const PARSERS: Readonly<Record<string, Parser>> = {
  'the path of a request': {
    take: (path) =>
      ['GET', 'POST', 'LIST'].map((method) => readVaultRequest(exchange(`/v1/${path}`, method), '/v1/')),
    starts: ['', 'sys/revoke-prefix/', 'a?list=', 'a?help=&'],
  },
  'the time for wrapping': { take: (text) => readVaultRequest(exchange('/v1/a', 'GET', text), '/v1/') },
  'the routes': {
    oneIn: 40,
    take: (path) =>
      tables.map((table) => {
        const match = table.match('GET', path);
        return [match, table.at(path), table.isOpen(path), spellingsOf(path, match)];
      }),
    starts: ['', ...firsts],
  },
  'policies asked about a path': {
    take: (path) => [
      acl.allows(path, 'read'),
      acl.allows(path, 'list'),
      acl.capabilities(path),
      acl.reaches(path),
    ],
    starts: ['', 'sys/', 'a/b/a'],
  },
  'a body of JSON': {
    take: (text) => parseObject(Buffer.from(text)),
    starts: ['', '{"a":', '{"a":"', '{"a":[1'],
  },
  'a form': { take: (text) => parseForm(Buffer.from(text)) },
  'a query': { take: parseQuery },
  'the record of a request': {
    take: (text) =>
      recorder.response({ ...audited, path: text, parameters: { a: text } }, { status: 400, error: text }),
  },
  'the record of many members': {
    oneIn: 30,
    take: (text) => {
      const parameters = Object.fromEntries(
        text.match(/.{1,6}/gs)?.map((part, index) => [`${part}${index}`, part]) ?? [],
      );
      return recorder.response({ ...audited, parameters }, { status: 400, error: text, data: parameters });
    },
  },
  'the record of deep lists': {
    take: (text) => {
      const parameters = {
        a: text
          .split('')
          .reduceRight<unknown>((inner, part, index) => (index % 300 === 0 ? [part] : [part, inner]), 0),
      };
      return recorder.response({ ...audited, parameters, shown: ['b'] }, { status: 400, error: text });
    },
  },
  'a policy': {
    take: parsePolicy,
    oneIn: 4,
    starts: ['', 'path "a" {', 'path "a" { capabilities = [', 'a = "'],
  },
  'pairs of names and values': { take: parsePairs },
  'a duration': { take: parseGoDuration },
  base64: { take: decodeBase64 },
  'a pattern of names': { take: (text) => glob(text.slice(0, 512))(text) },
  'an origin': {
    take: (text) =>
      allowsOrigin({ origins: [text, 'https://*.a.test'], headers: [], allowsCredentials: false }, text),
  },
  PEM: { take: pemBlocks, starts: ['', '-----BEGIN A-----\n'] },
  DER: { take: (text) => readDer(bytes(text)), starts: ['', '\u0030\u0083\u0001\u0000\u0000'] },
  'a certificate': { take: (text) => readCertificate(bytes(text)) },
  'a list of revoked certificates': { take: parseRevocationList, starts: ['', '-----BEGIN X509 CRL-----\n'] },
  'a signed token': {
    take: (text) => checkForm(text, true),
    starts: ['', 'eyJhbGciOiJSUzI1NiJ9.'],
  },
  'names of a signed token': {
    oneIn: 8,
    take: (text) => hasUniqueNames(JSON.stringify([text, { [text]: text.split('a') }, nestedIn(text)])),
  },
  'a message of gRPC': { take: (text) => parseFields(bytes(text)) },
  'a request of an SSH client': {
    take: (text) => parseAgentRequest(bytes(text)),
    starts: ['', '\r', '\u0011', '\u001b'],
  },
  'a call of PKCS #11': {
    take: (text) => readCall(bytes(text), 'flagged'),
    starts: ['', '\u0000\u0000\u0000\u0028\u0000\u0000\u0000\u0004'],
  },
  'a file of age': {
    take: (text) => readAge(new Lookahead(sourceOf(bytes(text), 1000))),
    starts: ['', 'age-encryption.org/v1\n', '-----BEGIN AGE ENCRYPTED FILE-----\n'],
  },
  'a key in bech32': { take: parseBech32, starts: ['', 'age1'] },
  'an envelope': {
    take: (text) =>
      [parsePrefix, parseSealedHeader, parseWrappedKeys].map((read) => attempted(() => read(bytes(text)))),
  },
  'a backup': { take: readBackupDocument, starts: ['', '{"policy":{"keys":{"1":{', '{"policy":{"a":['] },
  'a file of settings': {
    oneIn: 3,
    take: (text) => dotenv.parse(text, 'x'),
    starts: ['', 'A=', 'A="', "A='"],
  },
  'a file of JSON': { take: (text) => json.parse(text, 'x'), starts: ['', '{"a":', '[1', '{"a":"'] },
  'a file of YAML': {
    oneIn: 200,
    take: (text) => yaml.parse(text, 'x'),
    starts: ['', 'a: ', 'a: &a b\nb: [*a, ', 'a: |\n ', 'a: "'],
  },
  'an encrypted value': { take: parseValue, starts: ['', 'coffer:', 'coffer:a:v1:'] },
  'allowed signers': { take: parseAllowedSigners, starts: ['', 'a ', 'a namespaces="'] },
  'sums of files': { take: parseManifest, starts: ['', `${'a'.repeat(64)}  `] },
  'a key of minisign': { take: parseMinisignKey, starts: ['', 'untrusted comment: a\n'] },
  'a signature of minisign': { take: parseMinisignSignature, starts: ['', 'untrusted comment: a\n'] },
  'public keys': { take: parsePublicKeys, starts: ['', 'ssh-ed25519 AAAA'] },
  'a line of an SSH key': {
    take: (text) => [parseSshLine(text), attempted(() => parseRevokedKeys(text))],
    starts: ['', 'ssh-rsa AAAA '],
  },
  'a private key of SSH': {
    take: (text) => [parseEncryptedSshKey(text), parseSshPrivateKey(text)],
    starts: ['', '-----BEGIN OPENSSH PRIVATE KEY-----'],
  },
  'a signature of SSH': { take: parseSshSignature, starts: ['', '-----BEGIN SSH SIGNATURE-----\n'] },
  'a fact of a keyring': {
    take: (text) => parseFact(Buffer.from(`${text}\nsignature AAAA\n`), 'members/a.0'),
    starts: [
      '',
      'coffer team 1 member\nkey ',
      'coffer team 1 removal\nwithout ',
      'coffer team 1 slot\nafter ',
      'coffer team 1 slot\n-----BEGIN AGE ENCRYPTED FILE-----\n',
    ],
  },
  'a recipient of a keyring': {
    take: isRecipient,
    starts: ['', 'age1', 'ssh-ed25519 AAAA', 'ssh-rsa AAAA'],
  },
  'a table of tags': {
    take: (text) => csv.parse(text, 'x'),
    starts: ['', 'workspace,tag\n', 'workspace,tag\n"'],
  },
  'the address of a database': { take: (text) => parseAddress(text), starts: ['', 'postgres://'] },
};

/** As deep as a body may be, and as many objects. */
const nestedIn = (text: string): unknown =>
  Array.from(text).reduce<unknown>(
    (inner, part, index) => (index % 200 === 0 ? { [part]: [] } : { [part]: inner }),
    0,
  );

/** What comes of something that may refuse. */
export function attempted(work: () => unknown): unknown {
  try {
    return work();
  } catch (error) {
    return error;
  }
}
