/** Operations below a mount of `cert`. */

import { changeBelow } from '../../access/login/role-table.ts';
import {
  type CertMountSettings,
  type CertRole,
  type KeptList,
  NO_MOUNT_SETTINGS,
  rolesOf,
  settingsRef,
} from '../../access/methods/cert/documents.ts';
import {
  followList,
  keepList,
  listLists,
  readList as readKeptList,
  removeList as removeKeptList,
} from '../../access/methods/cert/lists.ts';
import { login as logIn, roleThatFits } from '../../access/methods/cert/login.ts';
import { refuseOnlineChecks, writeRole } from '../../access/methods/cert/roles.ts';
import { printGoTime } from '../../ground/clock.ts';
import { invalid, ownWords } from '../../ground/errors.ts';
import { withoutUndefined } from '../../ground/objects.ts';
import { withoutPrivateKey } from '../../ground/private-key-text.ts';
import { deletingByName, eachNamed } from '../declaration/deleting.ts';
import { duration } from '../declaration/duration.ts';
import { lacking } from '../declaration/lacking.ts';
import { done, warned } from '../declaration/operation.ts';
import { flag, givenOf, hidden, integer, text, texts } from '../declaration/params.ts';
import type { Details } from '../declaration/table.ts';
import { found, listAnswer, listing, loginOperations, pageOf, roleName } from './named-objects.ts';
import { loginAnswer } from './token-answers.ts';
import {
  givenSettings,
  olderTokenParams,
  roleDetails,
  tokenSettingsParams,
  unknownPolicies,
} from './token-settings.ts';

const name = roleName('role', 'web');
const listName = roleName('certificate revocation list (CRL)', 'ca');

const certOperation = loginOperations('cert');

const patterns = (of: string) =>
  texts({
    help: `Patterns for ${of} of the certificate: one must match. * is a wildcard.`,
    cli: { metavar: 'PATTERN' },
  });

const PEM = { orFile: true, metavar: 'PEM|@FILE', check: withoutPrivateKey('the certificates') } as const;

const ownParams = {
  certificate: text({
    help: 'Trusted CA certificates, or a single client certificate, in PEM.',
    long: true,
    cli: PEM,
  }),
  display_name: text({ help: 'Display name of issued tokens. Default: the name of the role.' }),
  allowed_names: texts({
    help: 'Patterns for the common name, a DNS SAN or an email SAN of the certificate: one must match. * is a wildcard.',
    cli: { metavar: 'PATTERN' },
  }),
  allowed_common_names: patterns('the common name'),
  allowed_dns_sans: patterns('a DNS SAN'),
  allowed_email_sans: patterns('an email SAN'),
  allowed_uri_sans: patterns('a URI SAN'),
  allowed_organizational_units: patterns('an organizational unit'),
  required_extensions: texts({
    help: 'Extensions that the certificate must have, as OID:PATTERN; all must match.',
  }),
  allowed_metadata_extensions: texts({
    help: 'OIDs of certificate extensions to copy to the metadata of the token.',
  }),
} as const;

const unusedParams = {
  ocsp_enabled: flag(hidden('OCSP is not supported; use CRLs.')),
  ocsp_ca_certificates: text({ ...hidden('Not supported; must be empty.'), long: true }),
  ocsp_servers_override: texts(hidden('Not supported; must be empty.')),
  ocsp_fail_open: flag(hidden('OCSP is not supported; use CRLs.')),
  ocsp_query_all_servers: flag(hidden('OCSP is not supported; use CRLs.')),
} as const;

/** OCSP settings, which have no effect; Terraform sends the defaults with every role. */
const inertParams = {
  ocsp_max_retries: integer(hidden('Stored for compatibility; has no effect.')),
  ocsp_this_update_max_age: duration(hidden('Stored for compatibility; has no effect.')),
} as const;

const keptParams = { ...ownParams, ...inertParams } as const;

/** Formats a role. Lists that were not set are `null`, as in Vault. */
function printRole({ settings, token }: CertRole) {
  const own = Object.fromEntries(
    Object.entries(settings).map(([member, value]) => [
      member,
      Array.isArray(value) && value.length === 0 ? null : value,
    ]),
  );
  return {
    ...own,
    ocsp_ca_certificates: '',
    ocsp_enabled: false,
    ocsp_fail_open: false,
    ocsp_query_all_servers: false,
    ocsp_servers_override: null,
    ...token,
  };
}

export const list = certOperation({
  route: 'LIST certs',
  ...listing('certificate roles', 'coffer auth cert write NAME'),
  run: async ({ room }, values) => listAnswer(await rolesOf(room).list(pageOf(values))),
});

const certDetails: Details = {
  unset: {
    ...roleDetails.unset,
    ocsp_enabled: false,
    ocsp_fail_open: false,
    ocsp_query_all_servers: false,
  },
};

export const read = certOperation({
  route: 'GET certs/:name',
  withoutSecret: true,
  params: { name },
  cli: { details: certDetails },
  run: async ({ room }, values) => ({
    data: printRole(found(await rolesOf(room).read(values.name), 'role', values.name)),
  }),
});

export const write = certOperation({
  route: 'POST certs/:name',
  params: {
    name,
    ...keptParams,
    ...unusedParams,
    ...tokenSettingsParams,
    ...olderTokenParams('policies', 'ttl', 'max_ttl', 'period', 'bound_cidrs'),
    lease: duration(hidden('Deprecated alias of `token_ttl`.')),
  },
  cli: {
    doubts: unknownPolicies,
    done: (values) => `Saved role ${String(values['name'])}.`,
    examples: {
      "coffer auth cert write web --certificate @ca.pem --allowed-dns-sans '*.example.com' --token-policies web":
        'Let clients with a certificate of this CA log in',
    },
  },
  async run({ room }, { name: role, lease, ...values }) {
    refuseOnlineChecks(givenOf(unusedParams, values));
    if ((values.ocsp_max_retries ?? 0) < 0) {
      throw invalid(ownWords('ocsp_max_retries can not be a negative number'), { field: 'ocsp_max_retries' });
    }
    const ttl = values.ttl ?? lease;
    const warnings = await writeRole(room, role, {
      settings: givenOf(keptParams, values),
      token: givenSettings(ttl === undefined ? values : { ...values, ttl }),
    });
    return warned(warnings);
  },
});

export const remove = certOperation({
  route: 'DELETE certs/:name',
  params: { name: eachNamed(name) },
  cli: deletingByName('role', { read: 'auth cert read' }),
  run: done(({ room }, values) => rolesOf(room).remove(values.name)),
});

const printList = ({ serials, source }: KeptList) => ({
  cdp: source === undefined ? null : { url: source.url, valid_until: printGoTime(source.nextMs ?? NEVER_MS) },
  serials: Object.fromEntries(serials.map((serial) => [serial, {}])),
});

/** Printed as Go's zero time. */
const NEVER_MS = Number.NEGATIVE_INFINITY;

export const listRevocations = certOperation({
  route: 'LIST crls',
  ...listing('CRLs', 'coffer auth cert set-revocations NAME'),
  run: async ({ room }, values) => listAnswer(await listLists(room, pageOf(values))),
});

export const readRevocations = certOperation({
  route: 'GET crls/:name',
  withoutSecret: true,
  params: { name: listName },
  cli: { details: {} },
  run: async ({ room }, values) => ({
    data: printList(await readKeptList(room, values.name)),
  }),
});

export const writeRevocations = certOperation({
  route: 'POST crls/:name',
  params: {
    name: listName,
    crl: text({ help: 'CRL in PEM or base64.', long: true, cli: PEM }),
    url: text({ help: 'URL from which to fetch the CRL, now and each time that the CRL expires.' }),
  },
  cli: {
    done: (values) => `Saved CRL ${String(values['name'])}.`,
    examples: { 'coffer auth cert set-revocations ca --crl @ca.crl': 'Upload the CRL published by the CA' },
  },
  async run({ room }, values) {
    if (values.crl !== undefined) {
      return warned(await keepList(room, values.name, values.crl));
    }
    if (values.url === undefined) {
      throw invalid(ownWords("one of 'crl' or 'url' must be provided"), { field: 'crl' });
    }
    await followList(room, values.name, values.url);
    return {};
  },
});

export const removeRevocations = certOperation({
  route: 'DELETE crls/:name',
  params: { name: listName },
  cli: {
    confirm: async (values) =>
      `Delete the CRL ${String(values['name'])}? The certificates it revokes will be accepted again.`,
    done: (values) => `Deleted CRL ${String(values['name'])}.`,
  },
  run: done(({ room }, values) => removeKeptList(room, values.name)),
});

export const readConfig = certOperation({
  route: 'GET config',
  withoutSecret: true,
  async run({ room }) {
    const { store, mount } = room;
    const settings = await store.read((view) => view.get<CertMountSettings>(settingsRef(mount)));
    return { data: settings ?? NO_MOUNT_SETTINGS };
  },
});

const LEAST_CACHED = 2;
const MOST_CACHED = 100_000;

export const writeConfig = certOperation({
  route: 'POST config',
  params: {
    disable_binding: flag({ help: 'Allow renewing tokens without the client certificate of the login.' }),
    enable_identity_alias_metadata: flag({ help: 'Stored for compatibility; has no effect.' }),
    ocsp_cache_size: integer({ help: 'Stored for compatibility; has no effect.' }),
    role_cache_size: integer({
      help: 'Stored for compatibility; has no effect.',
    }),
    enable_metadata_on_failures: lacking('Not supported.', 'errors of failed logins contain no metadata'),
  },
  run: done(async ({ room }, { enable_metadata_on_failures: _nothing, ...values }) => {
    const { ocsp_cache_size: size } = values;
    if (size !== undefined && (size < LEAST_CACHED || size > MOST_CACHED)) {
      throw invalid(`invalid cache size, must be >= ${LEAST_CACHED} and <= ${MOST_CACHED}`, {
        field: 'ocsp_cache_size',
      });
    }
    const ref = settingsRef(room.mount);
    await changeBelow(room, async (tx) => {
      const before = (await tx.get<CertMountSettings>(ref)) ?? NO_MOUNT_SETTINGS;
      tx.put(ref, { ...before, ...withoutUndefined(values) });
    });
  }),
});

export const login = certOperation({
  route: 'POST login',
  unauthenticated: true,
  roleOf: async ({ room, clientCertificates }, values) =>
    values.name.toLowerCase() || (await roleThatFits(room, clientCertificates)),
  params: {
    name: text({
      help: 'Role to log in with. Default: of the roles that match the certificate, the one with the most requirements.',
      default: '',
    }),
  },
  async run({ core, room, clientCertificates, remoteAddress = '' }, values) {
    const { tokens } = await core.access();
    const issued = await logIn(room, tokens, {
      certificates: clientCertificates,
      name: values.name.toLowerCase(),
      address: remoteAddress,
    });
    return loginAnswer(issued);
  },
});
