/** Operations on tokens, below `auth/token`. */

import { revoking } from '../../access/tokens.ts';
import { invalid } from '../../ground/errors.ts';
import { tokenRoleName } from '../auth/named-objects.ts';
import { loginAnswer, type TokenAuth } from '../auth/token-answers.ts';
import { explainedPolicies } from '../auth/token-settings.ts';
import { duration } from '../declaration/duration.ts';
import { type AccessCall, accessOperation } from '../declaration/mount-operations.ts';
import type { CliShape, Outcome } from '../declaration/operation.ts';
import { choice, flag, hidden, integer, text, textMap, texts, type ValuesOf } from '../declaration/params.ts';
import type { Lasting, Undoing } from '../declaration/undoing.ts';

/** An empty text is one empty name, as in Vault, not the absence of names, which gives the policies of the creator. */
const policiesParam = (help: string) => {
  const param = texts({ help, cli: { flag: 'policy', metavar: 'P', refersTo: 'policy' } });
  const parse: typeof param.parse = (value, field) => param.parse(value === '' ? [value] : value, field);
  return { ...param, parse };
};

const noParent = (help: string) => flag({ help, default: false, cli: { flag: 'orphan' } });

/** Settings of a new token, shared by the paths that issue tokens. */
const tokenParams = {
  policies: policiesParam(
    'Policies of the token. Default: those of the token that creates it ("root" on a local store).',
  ),
  ttl: duration({
    help: 'Time to live, e.g. 24h; at most 32d. Default: 32d; a root token lives until it is revoked.',
  }),
  lease: duration(hidden('Deprecated alias of `ttl`.')),
  explicit_max_ttl: duration({
    help: "Hard limit on the token's lifetime, renewals included. Default: none.",
  }),
  period: duration({
    help: 'Make the token periodic: it can be renewed any number of times, each time for this long.',
  }),
  display_name: text({
    help: 'Name of the token in lists and in the audit log.',
    default: '',
    cli: { metavar: 'S' },
  }),
  num_uses: integer({ help: 'Number of requests that the token can make (0: unlimited).', default: 0 }),
  renewable: flag({
    help: 'Allow the token to be renewed.',
    default: true,
    cli: { negatable: 'Forbid renewing the token.' },
  }),
  no_default_policy: flag({
    help: 'Do not give the token the policy "default", which all tokens except root tokens get otherwise.',
    default: false,
  }),
  no_parent: noParent(
    'Create the token without a parent, so that it is not revoked together with the token that creates it.',
  ),
  meta: textMap({
    help: 'Store NAME=VALUE with the token; "token lookup" shows it. Can be repeated.',
  }),
  id: text({ ...hidden('Custom token value, instead of a random one.'), default: '' }),
  type: choice(['', 'service', 'batch'], {
    help: 'Token type: service, or batch (not stored, cannot be renewed or revoked). Default: service.',
    default: '',
    cli: { metavar: 'KIND', suggest: () => ['service', 'batch'] },
    unknown: () => "invalid 'token_type' value",
  }),
  entity_alias: text({ ...hidden('Not supported: Coffer has no entities.'), default: '' }),
};

/**
 * Issues a token for the caller.
 * @param path path of the request
 */
async function issueToken(
  call: AccessCall,
  values: ValuesOf<typeof tokenParams>,
  path: string,
  role?: string,
): Promise<Outcome<TokenAuth>> {
  refuseAlias(values, role);
  const { access, caller } = call;
  const orphanByPath = path === 'auth/token/create-orphan';
  const issued = await access.tokens.create(
    {
      policies: values.policies ?? [],
      noDefaultPolicy: values.no_default_policy,
      ttl: values.ttl || values.lease || 0,
      explicitMaxTtl: values.explicit_max_ttl ?? 0,
      period: values.period ?? 0,
      renewable: values.renewable,
      numUses: values.num_uses,
      orphan: orphanByPath ? 'by-path' : values.no_parent ? 'asked' : 'no',
      displayName: values.display_name,
      meta: values.meta ?? null,
      id: values.id,
      path,
      kind: values.type === '' ? undefined : values.type,
      role,
    },
    {
      sudo: caller.may(path, 'sudo'),
      accessor: caller.accessor,
    },
  );
  // Shown as of its creation, because clients compare the time with what they requested.
  return loginAnswer(issued);
}

function refuseAlias(values: ValuesOf<typeof tokenParams>, role: string | undefined): void {
  if (values.entity_alias !== '') {
    const text =
      role === undefined
        ? "'entity_alias' is only allowed in combination with token role"
        : "invalid 'entity_alias' value";
    throw invalid(text, { field: 'entity_alias' });
  }
}

const undoOf = ({ accessor }: TokenAuth): Undoing | Lasting =>
  accessor === ''
    ? { lasts: 'the batch token cannot be revoked, and stays valid until it expires' }
    : {
        operation: 'token revoke',
        raw: { token: accessor },
        what: 'the token',
        hint: revoking(accessor),
      };

/** Formats the message about a new token; a root token is not only noticed by what it can do. */
function createdText(auth: TokenAuth | undefined): string {
  const policies = auth?.policies ?? [];
  const isRoot = policies.includes('root');
  const noun = `${policies.length === 1 ? 'policy' : 'policies'} ${policies.join(', ')}`;
  const lifetime = auth?.lease_duration === 0 ? ' It does not expire.' : '';
  return `Created a token with the ${noun}${isRoot ? ', which permits everything' : ''}.${lifetime}`;
}

const issuing = {
  result: { member: 'client_token', as: 'text' },
  copies: true,
  isOfVault: true,
  explained: explainedPolicies,
  undo: undoOf,
  done: (_values, data) => createdText(data),
} as const satisfies CliShape<TokenAuth>;

export const create = accessOperation({
  route: 'POST /auth/token/create',
  params: tokenParams,
  cli: {
    ...issuing,
    examples: {
      'coffer token create':
        'On a local store: create a root token, which may do everything and never expires',
      'coffer token create --policy orders --ttl 24h --display-name billing':
        'Create a token for one program',
      'coffer token create --policy orders --ttl 10m --type batch':
        'Create a batch token for one job; it is not stored',
      'coffer token create --policy orders --period 24h': 'Create a token that must be renewed every day',
    },
  },
  run: (call, values) => issueToken(call, values, 'auth/token/create'),
});

/** Like `create`, but the token has no parent; this path does not require `sudo` for that. */
export const createOrphan = accessOperation({
  route: 'POST /auth/token/create-orphan',
  params: tokenParams,
  run: (call, values) => issueToken(call, values, 'auth/token/create-orphan'),
});

/** Creates a token by a token role, whose policies are independent of the caller's. */
export const createByRole = accessOperation({
  route: 'POST /auth/token/create/:role',
  params: {
    ...tokenParams,
    policies: policiesParam(
      'Policies of the token. Default: the allowed policies of the role; if it has none, those of your own token.',
    ),
    num_uses: {
      ...tokenParams.num_uses,
      help: 'Number of requests that the token can make (0: unlimited); a lower limit of the role applies.',
    },
    type: {
      ...tokenParams.type,
      help: 'Token type, if the role leaves the choice: service, or batch (not stored, cannot be renewed or revoked). Default: set by the role.',
    },
    no_parent: noParent('Accepted for compatibility; the role decides whether its tokens have a parent.'),
    role: tokenRoleName,
  },
  cli: {
    ...issuing,
    examples: { 'coffer token create-by-role release --ttl 5m': 'Create a token from the role "release"' },
  },
  run: (call, values) => issueToken(call, values, `auth/token/create/${values.role}`, values.role),
});
