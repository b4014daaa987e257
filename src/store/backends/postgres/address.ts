import { type DatabasePlace, invalid } from '../../../ground/errors.ts';
import { isLoopback } from '../../../ground/loopback.ts';
import type { Defaults } from '../backend-kind.ts';

/** One server of a PostgreSQL cluster; an undefined port is left to the platform (PGPORT, else 5432). */
export interface Host {
  readonly host: string;
  readonly port: number | undefined;
}

/** Host as written in a location; its name may be missing. */
type GivenHost = Pick<Host, 'port'> & { readonly host: string | undefined };

/**
 * Default host, always set explicitly: the library would take another one from the environment, and this module could
 * not know whether it is local.
 */
const DEFAULT_HOST = 'localhost';

/** Value of `sslrootcert` for the platform's certificate authorities. */
export const SYSTEM = 'system';

type SslMode = 'disable' | 'prefer' | 'require' | 'verify-ca' | 'verify-full';
const SSL_MODES: readonly SslMode[] = ['disable', 'prefer', 'require', 'verify-ca', 'verify-full'];

/** Location of a store in PostgreSQL, and how to connect to it. */
export interface PostgresAddress {
  /** Hosts, at least one; those of a cluster are tried in this order. */
  readonly hosts: readonly [Host, ...Host[]];
  readonly user: string | undefined;
  /** Password, if the location contains one, which is meant for local tests: see `passfile` and `passwordfile`. */
  readonly password: string | undefined;
  readonly database: string | undefined;
  /** PostgreSQL schema that holds the store's tables. */
  readonly schema: string;
  readonly ssl: {
    readonly mode: SslMode;
    readonly rootCertificateFile: string | undefined;
    readonly certificateFile: string | undefined;
    readonly keyFile: string | undefined;
  };
  /** Path of a file in the format of PGPASSFILE. */
  readonly passwordTable: string | undefined;
  /** Path of a file that contains only the password. */
  readonly passwordFile: string | undefined;
  readonly connectTimeoutMs: number;
  /** Location for messages, without the password. */
  readonly place: DatabasePlace;
}

const DEFAULT_SCHEMA = 'coffer';
const DEFAULT_CONNECT_TIMEOUT_S = 10;
const PARTS =
  /^postgres(?:ql)?:\/\/(?:(?<user>[^:@/?]*)(?::(?<password>[^@/?]*))?@)?(?<hosts>[^/?]*)(?:\/(?<database>[^?]*))?(?:\?(?<query>.*))?$/i;
const HOST = /^(?<host>\[[^\]]+\]|[^:]*)(?::(?<port>\d{1,5}))?$/;
/** Allowed schema names: plain identifiers that need no quoting. */
const SCHEMA = /^[a-z_][a-z0-9_]{0,62}$/;
/** Maximum length of a name in PostgreSQL, in characters; it cuts off longer ones. */
const MAX_SCHEMA = 63;

const PARAMETERS = [
  'host',
  'port',
  'user',
  'dbname',
  'schema',
  'sslmode',
  'sslrootcert',
  'sslcert',
  'sslkey',
  'passfile',
  'passwordfile',
  'connect_timeout',
] as const;
type Parameter = (typeof PARAMETERS)[number];
type Groups = Readonly<Record<string, string | undefined>>;

/**
 * Parses a location: a connection URI as in libpq (PostgreSQL 15 documentation, 34.1.1.2), optionally with several
 * hosts. Extends libpq's parameters with `schema` and `passwordfile`.
 * @param defaults parameters that the location does not have itself
 * @throws `invalid`, without repeating the location, which may contain a password
 * @see docs/decisions/0094
 */
export function parseAddress(location: string, defaults: Defaults = {}): PostgresAddress {
  const groups = location.isWellFormed() ? PARTS.exec(location)?.groups : undefined;
  if (groups === undefined || hasMisplacedPassword(groups))
    throw wrong('it is not of the form postgres://USER@HOST:PORT/DATABASE');
  const given = parametersOf(groups['query'] ?? '');
  const authority = given.get('sslrootcert');
  addDefaults(given, groups, defaults);
  const givenHosts = hostsOf(given.get('host') ?? groups['hosts'] ?? '', given.get('port'));
  const [first, ...others] = givenHosts.map(({ host = DEFAULT_HOST, port }): Host => ({ host, port }));
  const hosts = [first ?? { host: DEFAULT_HOST, port: undefined }, ...others] as const;
  const user = given.get('user') ?? decoded(groups['user']);
  const database = given.get('dbname') ?? decoded(groups['database']);
  const schema = given.get('schema') ?? DEFAULT_SCHEMA;
  if (!SCHEMA.test(schema)) throw wrong(`the schema ${wrongIn(schema)}`);
  const address = {
    hosts,
    user,
    password: decoded(groups['password']),
    database,
    schema,
    ssl: {
      mode: sslModeOf(given.get('sslmode'), hosts, authority),
      rootCertificateFile: given.get('sslrootcert'),
      certificateFile: given.get('sslcert'),
      keyFile: given.get('sslkey'),
    },
    passwordTable: given.get('passfile'),
    passwordFile: given.get('passwordfile'),
    connectTimeoutMs: timeoutOf(given.get('connect_timeout')),
  };
  return { ...address, place: { database: printAddress({ ...address, hosts: givenHosts }) } };
}

/** Whether a password is where messages would show it: behind a slash too many. */
const hasMisplacedPassword = ({ user, database = '' }: Groups): boolean =>
  user === undefined && /^[^:]*:.*@/s.test(database);

/** Says what is wrong with the name of a schema. */
function wrongIn(schema: string): string {
  if (!/^[a-z0-9_]*$/.test(schema)) return 'may only contain lower-case letters, digits and underscores';
  return schema.length > MAX_SCHEMA
    ? `may have ${MAX_SCHEMA} characters at most`
    : 'must begin with a letter or _';
}

/** Adds defaults for parameters that the location sets neither in its query nor in its authority or path. */
function addDefaults(given: Map<Parameter, string>, groups: Groups, defaults: Defaults): void {
  const { user, hosts = '', database } = groups;
  const beside: Groups = { user, host: hosts, port: /:\d/.exec(hosts)?.[0], dbname: database };
  for (const name of PARAMETERS) {
    const value = defaults[name];
    if (value !== undefined && !given.has(name) && !beside[name]) given.set(name, value);
  }
}

function parametersOf(query: string): Map<Parameter, string> {
  const given = new Map<Parameter, string>();
  for (const pair of query.split('&').filter((text) => text !== '')) {
    const [name = '', value = ''] = pair.split(/=(.*)/s);
    const known = PARAMETERS.find((candidate) => candidate === name);
    if (known === undefined) {
      // With "@", what looks like a query is probably the rest of a password with a question mark.
      const shown = query.includes('@') ? '' : ` "${name}"`;
      throw wrong(`unknown parameter${shown}; use one of ${PARAMETERS.join(', ')}`);
    }
    given.set(known, decoded(value) ?? '');
  }
  return given;
}

function hostsOf(text: string, ports: string | undefined): GivenHost[] {
  const givenPorts = ports?.split(',') ?? [];
  return text.split(',').map((one, index) => {
    const decodedHost = decoded(one);
    const isDirectory = decodedHost?.startsWith('/') === true;
    const { host, port } = isDirectory ? { host: decodedHost } : (HOST.exec(one)?.groups ?? {});
    if (host === undefined) throw wrong('expected HOST or HOST:PORT, with an IPv6 address in brackets');
    const number = port ?? givenPorts[index] ?? givenPorts[0];
    return {
      host: decoded(host.replace(/^\[|\]$/g, '')),
      port: number === undefined ? undefined : portOf(number),
    };
  });
}

function portOf(text: string): number {
  const port = Number(text);
  if (!Number.isInteger(port) || port < 1 || port > 65_535)
    throw wrong('the port must be a number from 1 to 65535');
  return port;
}

/**
 * Returns the TLS mode. On the network an attacker could answer in place of the server, and a password sent without
 * verification would be theirs. On this machine the database is not verified, unless the location names an authority,
 * which would otherwise have no effect.
 * @param authority `sslrootcert` of the location itself
 * @see docs/decisions/0116
 */
function sslModeOf(text: string | undefined, hosts: readonly Host[], authority: string | undefined): SslMode {
  if (text === undefined) {
    if (authority === SYSTEM || !hosts.every(isOnThisMachine)) return 'verify-full';
    return authority ? 'verify-ca' : 'prefer';
  }
  // "allow" tries without TLS first, which is never better.
  const mode = text === 'allow' ? 'prefer' : SSL_MODES.find((candidate) => candidate === text);
  if (mode === undefined) throw wrong(`sslmode must be one of ${SSL_MODES.join(', ')}`);
  return mode;
}

const isOnThisMachine = ({ host }: Host): boolean => host.startsWith('/') || isLoopback(host);

function timeoutOf(text = String(DEFAULT_CONNECT_TIMEOUT_S)): number {
  const seconds = Number(text);
  if (!Number.isInteger(seconds) || seconds < 1)
    throw wrong('connect_timeout must be a number of seconds, at least 1');
  return seconds * 1000;
}

/** Decodes percent-encoding; undefined for an empty text. */
function decoded(text: string | undefined): string | undefined {
  if (text === undefined || text === '') return undefined;
  try {
    return decodeURIComponent(text);
  } catch {
    throw wrong('% must be followed by two hexadecimal digits');
  }
}

/** Formats a host as in a location. */
export function printHost({ host = '', port }: GivenHost): string {
  const name = host.startsWith('/') ? encodeURIComponent(host) : host.includes(':') ? `[${host}]` : host;
  return port === undefined ? name : `${name}:${port}`;
}

type Printed = Pick<PostgresAddress, 'user' | 'database' | 'schema'> & {
  readonly hosts: readonly GivenHost[];
};

function printAddress({ user, hosts, database, schema }: Printed): string {
  const printedHosts = hosts.map(printHost);
  const before = user === undefined ? '' : `${encodeURIComponent(user)}@`;
  const after = schema === DEFAULT_SCHEMA ? '' : `?schema=${schema}`;
  return `postgres://${before}${printedHosts.join(',')}/${encodeURIComponent(database ?? '')}${after}`;
}

const wrong = (reason: string) =>
  invalid(`invalid store location: ${reason}`, {
    field: 'store',
    hint: 'use a location such as postgres://coffer@db.example.com/coffer',
  });
