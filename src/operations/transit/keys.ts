/** Operations on named keys themselves. */

import { configureKey } from '../../transit/configuration.ts';
import { DEFAULT_KEY_TYPE, keyTypeCalled, keyTypeNames } from '../../transit/key-types/index.ts';
import { createKey, deleteKey, listKeys } from '../../transit/lifecycle.ts';
import { MANY_MESSAGES, warningOf } from '../../transit/message-counts.ts';
import { requireKey } from '../../transit/named-key.ts';
import { rotateKey, trimKey } from '../../transit/rotation.ts';
import { duration } from '../declaration/duration.ts';
import { lacking } from '../declaration/lacking.ts';
import { done, warned } from '../declaration/operation.ts';
import { base64, flag, hidden, integer, text, texts } from '../declaration/params.ts';
import { foreseeDeletion, foreseeKey, foreseeTrim } from './foreseen.ts';
import { type KeyData, keyData, keyTable } from './key-data.ts';
import { keysCarrying, tagOrganization, tagsOfKey } from './key-tags.ts';
import { keyListTable, keyViews } from './key-views.ts';
import {
  derived,
  eachKey,
  existingKey,
  keyInPath,
  leaving,
  parameterSet,
  textOrBase64,
  transitOperation,
} from './parameters.ts';

const LEAVES = { exportable: 'be exported', allow_plaintext_backup: 'be backed up in plaintext' } as const;

/** Whether a request does not allow the key to leave the store, which cannot be revoked. */
const keepsKeyIn = (raw: Readonly<Record<string, unknown>>): boolean =>
  Object.keys(LEAVES).every((name) => raw[name] === undefined || raw[name] === false);

export const create = transitOperation({
  route: 'POST keys/:name',
  // A key could be created in place of a deleted one, and would be used under its name.
  withoutSecret: keepsKeyIn,
  params: {
    name: keyInPath('Name of the key to create.', { positional: 'each' }),
    type: text({
      help: 'Key type.',
      default: DEFAULT_KEY_TYPE,
      cli: { suggest: keyTypeNames },
    }),
    parameter_set: parameterSet,
    derived,
    convergent_encryption: flag({
      help: 'Encrypt equal plaintexts with equal contexts to equal ciphertexts; only for derived keys.',
      default: false,
    }),
    ...leaving,
    auto_rotate_period: duration({
      help: 'Rotate automatically when the latest version is this old, e.g. 720h (at least 1h; 0: never).',
      default: 0,
      cli: { metavar: 'DURATION' },
    }),
    key_size: integer({
      help: 'Key length in bytes, 32 to 512 (0: not set). Required for type hmac, not allowed for others.',
      default: 0,
      cli: { metavar: 'BYTES' },
    }),
    context: base64(hidden('Accepted for compatibility; ignored.')),
    managed_key_name: lacking('Not supported: keys in hardware devices.', 'managed keys are not supported'),
    managed_key_id: lacking('Not supported: keys in hardware devices.', 'managed keys are not supported'),
    hybrid_key_type_ec: lacking('Not supported: hybrid keys.', 'hybrid keys are not supported'),
    hybrid_key_type_pqc: lacking('Not supported: hybrid keys.', 'hybrid keys are not supported'),
  },
  cli: {
    acts: true,
    makes: true,
    misfit: (values, data) => misfitOf(values, data),
    table: keyTable,
    done: (values, data, existing) =>
      `${existing ? `Key ${values['name']} already exists` : `Created key ${values['name']}`} (${data?.type}, version ${data?.latest_version}).` +
      (existing ? '' : forGood(values)),
    examples: {
      'coffer transit keys create orders': 'Create an encryption key (AES-256-GCM)',
      'coffer transit keys create app mail backup': 'Create three keys',
      'coffer transit keys create releases --type ed25519': 'Create a signing key',
      'coffer transit keys create search --derived --convergent-encryption':
        'Create a convergent key: equal values with equal contexts get equal ciphertexts',
    },
  },
  async run({ engine }, values) {
    const { key, existed } = await createKey(engine, values.name, {
      type: values.type,
      parameterSet: values.parameter_set,
      derived: values.derived,
      convergentEncryption: values.convergent_encryption,
      exportable: values.exportable,
      allowPlaintextBackup: values.allow_plaintext_backup,
      autoRotatePeriodSeconds: values.auto_rotate_period,
      keyBytes: values.key_size,
    });
    return { data: keyData(engine, key), existing: existed || undefined };
  },
});

/** Describes the irrevocable permissions in a request. */
const leavings = (values: Readonly<Record<string, unknown>>): string =>
  Object.entries(LEAVES)
    .filter(([name]) => values[name] === true)
    .map(([, what]) => what)
    .join(' and ');

function forGood(values: Readonly<Record<string, unknown>>): string {
  const what = leavings(values);
  return what === '' ? '' : ` It is allowed to ${what}; this cannot be undone.`;
}

const questions = (values: Readonly<Record<string, unknown>>): string[] => [
  ...(leavings(values) === ''
    ? []
    : [`Allow key ${values['name']} to ${leavings(values)}? This cannot be undone.`]),
  ...(values['auto_trim'] === true
    ? [
        `On each rotation, permanently delete the versions of key ${values['name']} that are no longer usable?`,
      ]
    : []),
];

/** Immutable settings; older servers do not report all of them. */
const FIXED = ['type', 'derived', 'convergent_encryption', 'key_size'] as const;
/** Settings that can be changed later are only compared if they were requested. */
const CHANGEABLE = ['exportable', 'allow_plaintext_backup', 'auto_rotate_period'] as const;

/**
 * Returns the first difference between the existing key and the request.
 * @see docs/decisions/0154
 */
function misfitOf(asked: Readonly<Record<string, unknown>>, data: KeyData): string | undefined {
  const there: Readonly<Record<string, unknown>> = { convergent_encryption: false, ...data };
  const differs = (name: string): boolean =>
    there[name] !== undefined &&
    there[name] !== asked[name] &&
    !(name === 'type' && isSameType(there, asked));
  const name = FIXED.find(differs) ?? CHANGEABLE.find((member) => asked[member] && differs(member));
  if (name === undefined) return undefined;
  const what = name === 'type' ? name : `setting "${name.replaceAll('_', '-')}"`;
  return `key "${data.name}" already exists, but its ${what} is ${there[name]}, not ${asked[name]}`;
}

/** Whether two types are the same: a type has several names, and servers differ in which they report. */
function isSameType(
  ...two: readonly [Readonly<Record<string, unknown>>, Readonly<Record<string, unknown>>]
): boolean {
  const [there, asked] = two.map(
    ({ type, parameter_set: set }) => keyTypeCalled(String(type), String(set ?? ''))?.type,
  );
  return there !== undefined && there === asked;
}

export const read = transitOperation({
  route: 'GET keys/:name',
  withoutSecret: true,
  params: {
    name: existingKey,
    context: textOrBase64(
      'Show the public keys for this derivation context, base64 (only for derived signing keys).',
    ),
  },
  cli: { table: keyTable, forTerminal: keyViews },
  async run(call, values) {
    const { engine } = call;
    const key = await requireKey(engine, values.name, 'key not found');
    // Only symmetric encryption counts messages.
    const counts = key.type.aead === undefined ? undefined : engine.messages;
    const messages = counts === undefined ? {} : await counts.of(engine, key.document);
    const warnings = Object.entries(messages)
      .filter(([, count]) => count >= MANY_MESSAGES)
      .map(([version, count]) => warningOf(values.name, Number(version), count));
    return {
      data: {
        ...keyData(engine, key, values.context),
        messages: Object.keys(messages).length > 0 ? messages : undefined,
        ...(key.document.knownAs && (await tagsOfKey(call, key))),
      },
      ...warned(warnings),
    };
  },
});

export const list = transitOperation({
  route: 'LIST keys',
  withoutSecret: true,
  params: {
    after: text({
      help: 'List only names after NAME in sorted order; NAME need not exist.',
      cli: { metavar: 'NAME' },
    }),
    limit: integer({ help: 'Maximum number of names (0: all).', default: 0 }),
    tag: texts({
      help: 'Only keys with all of these tags, such as team:core or env=prod; * is a wildcard.',
      default: [],
      cli: { refersTo: 'tag' },
    }),
    organization: tagOrganization,
  },
  cli: {
    result: { member: 'keys', as: 'lines' },
    forTerminal: keyListTable,
    empty: { what: 'keys', create: 'coffer transit keys create NAME' },
    examples: {
      'coffer transit keys list --tag env:prod --org acme': 'List keys with a tag',
      'for key in $(coffer transit keys list); do coffer transit keys read "$key" -o json; done':
        'Print type, versions and times of each key as JSON; "keys list -o json" prints only names',
    },
  },
  async run(call, values) {
    const { after = '', limit, tag, organization } = values;
    const keys =
      tag.length > 0
        ? (await keysCarrying(call, organization, tag))
            .filter((name) => name > after)
            .slice(0, limit || undefined)
        : await listKeys(call.engine, {
            after: values.after === undefined ? undefined : after,
            limit: limit > 0 ? limit : undefined,
          });
    return keys.length === 0 ? { data: { keys }, nothingListed: true } : { data: { keys } };
  },
});

export const configure = transitOperation({
  route: 'POST keys/:name/config',
  withoutSecret: keepsKeyIn,
  params: {
    name: existingKey,
    min_decryption_version: integer({ help: 'Oldest version allowed to decrypt and verify.' }),
    min_encryption_version: integer({
      help: 'Oldest version allowed to encrypt and sign (0: the same as for decrypting).',
    }),
    deletion_allowed: flag({
      help: 'Allow deleting the key.',
      cli: { negatable: 'Forbid deleting the key.' },
    }),
    exportable: flag({ help: 'Allow exporting the key material; cannot be disallowed later.' }),
    allow_plaintext_backup: flag({ help: 'Allow plaintext backups of the key; cannot be disallowed later.' }),
    auto_rotate_period: duration({
      help: 'Rotate automatically when the latest version is this old, e.g. 720h (at least 1h; 0: never).',
      cli: { metavar: 'DURATION' },
    }),
    keep_versions: integer({
      help: 'Number of latest versions allowed to decrypt and verify, now and after each rotation (0: all).',
    }),
    auto_trim: flag({
      help: 'On each rotation, permanently delete versions that keep_versions does not keep.',
      cli: { negatable: 'On rotation, keep all versions stored, even those that can no longer be used.' },
    }),
  },
  cli: {
    acts: true,
    table: keyTable,
    asksFor: (values) => leavings(values) !== '' || values['auto_trim'] === true,
    foresee: foreseeKey,
    confirm: async (values) => questions(values).join(' '),
    done(values, data) {
      const changes = changesIn(values);
      if (changes === '') return `No setting given. No changes made to key ${values['name']}.`;
      return `Updated key ${values['name']} (${data?.type})${changes}.`;
    },
    examples: {
      'coffer transit keys config orders --min-decryption-version 2':
        'Refuse to decrypt ciphertexts of version 1',
      'coffer transit keys config orders --keep-versions 3':
        'Refuse all versions but the latest three, now and after each rotation',
      'coffer transit keys config orders --deletion-allowed': 'Allow deleting the key',
    },
  },
  async run({ engine }, values) {
    const { key, warnings } = await configureKey(engine, values.name, {
      minDecryptionVersion: values.min_decryption_version,
      minEncryptionVersion: values.min_encryption_version,
      deletionAllowed: values.deletion_allowed,
      exportable: values.exportable,
      allowPlaintextBackup: values.allow_plaintext_backup,
      autoRotatePeriodSeconds: values.auto_rotate_period,
      keepVersions: values.keep_versions,
      autoTrim: values.auto_trim,
    });
    return { data: keyData(engine, key), warnings };
  },
});

/** Names the settings in a request with their new values. */
function changesIn({ name: _, ...settings }: Readonly<Record<string, unknown>>): string {
  const changes = Object.entries(settings).flatMap(([name, value]) =>
    value === undefined ? [] : [`${name.replaceAll('_', '-')} ${value}`],
  );
  return changes.length === 0 ? '' : `: ${changes.join(', ')}`;
}

export const rotate = transitOperation({
  route: 'POST keys/:name/rotate',
  withoutSecret: true,
  params: {
    name: eachKey,
    force: flag({
      help: 'Also rotate keys that only sign or compute HMACs; programs that verify elsewhere then need the new version.',
      default: false,
    }),
  },
  cli: {
    acts: true,
    table: keyTable,
    done: (values, data) =>
      `Rotated key ${values['name']} (${data?.type}) to version ${data?.latest_version}.` +
      (data?.supports_encryption
        ? ` Rewrap old values with "coffer transit rewrap ${values['name']} CIPHERTEXT", and values in files with "coffer secrets rewrap FILE".`
        : ''),
    examples: {
      'coffer transit keys rotate orders':
        'Encrypt new values with a new version; old values can still be decrypted',
      'coffer transit keys rotate releases --force': 'Rotate a signing key',
    },
  },
  async run({ engine }, values) {
    return { data: keyData(engine, await rotateKey(engine, values.name, values.force)) };
  },
});

export const trim = transitOperation({
  route: 'POST keys/:name/trim',
  withoutSecret: true,
  params: {
    name: existingKey,
    min_available_version: integer({
      help: 'Oldest version to keep; earlier ones are permanently deleted.',
      required: true,
    }),
  },
  cli: {
    examples: {
      'coffer transit keys config orders --min-decryption-version 2 --min-encryption-version 2 && coffer transit keys trim orders --min-available-version 2':
        'Refuse version 1, then delete it permanently',
    },
    acts: true,
    table: keyTable,
    done: (values, data) =>
      `Trimmed key ${values['name']} (${data?.type}): deleted all versions below ${values['min_available_version']}.`,
    foresee: foreseeTrim,
    confirm: async (values) =>
      `Permanently delete all versions of key ${values['name']} below ${values['min_available_version']}?`,
  },
  async run({ engine }, values) {
    return { data: keyData(engine, await trimKey(engine, values.name, values.min_available_version)) };
  },
});

export const remove = transitOperation({
  route: 'DELETE keys/:name',
  withoutSecret: true,
  params: { name: eachKey },
  cli: {
    foresee: foreseeDeletion,
    confirm: async (values) =>
      `Permanently delete key ${values['name']}? Data encrypted with it can never be decrypted. ("coffer transit keys soft-delete ${values['name']}" can be undone.)`,
    done: (values) => `Deleted key ${values['name']}.`,
  },
  run: done(async ({ core, engine }, values) =>
    deleteKey(engine, values.name, async (tx, knownAs) => (await core.tags()).keys.forget(tx, knownAs)),
  ),
});
