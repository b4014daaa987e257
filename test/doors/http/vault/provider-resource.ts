/** How a resource of Terraform's provider is asked for. */

type Body = Readonly<Record<string, unknown>>;

/** A member that the server is told. Names with dots are members of members. */
interface Sent {
  /** A value that asks for something. */
  readonly given: unknown;
  /** Its name in the request; default: that of the member. */
  readonly sent?: string;
  /** Its name in what is read; default: that in the request. */
  readonly shown?: string;
  /** What is read; default: what was given. Lists are compared without regard to their order. */
  readonly as?: unknown;
  /** What it can't be without. */
  readonly beside?: Body;
  /** The value that asks for nothing is a mistake. */
  readonly mustBe?: true;
}

/** One that can't be had: the value is answered with 400. */
interface Refused {
  readonly refused: unknown;
  readonly sent?: string;
  /** Every value asks for something, also zero. */
  readonly mustBe?: true;
}

/** One that is no member of a request, and why. */
interface Elsewhere {
  readonly elsewhere: string;
}

export type Member = Sent | Refused | Elsewhere;

export interface Asked {
  readonly line: string;
  readonly body?: Body;
}

/** A resource, as the provider asks for it. `name` is another one in each test. */
export interface Written {
  /** What it needs to be there. */
  readonly before?: (name: string) => readonly Asked[];
  readonly write: (name: string) => Required<Asked>;
  /** @param answer to the write. */
  readonly read: (name: string, answer: Body) => Asked;
  readonly members: Readonly<Record<string, Member>>;
}

export const PATH: Elsewhere = { elsewhere: 'it is in the path' };
export const OWN: Elsewhere = { elsewhere: 'the provider keeps it to itself' };
export const TRAIT: Sent = { given: true };
export const NAMESPACE: Elsewhere = { elsewhere: 'a header says it, and is refused' };

/** Members of `config` where a mount is made, and by themselves where it is tuned. */
export const tuning = (prefix: string): Readonly<Record<string, Member>> => {
  const at = (name: string, member: Omit<Sent, 'sent'> | Omit<Refused, 'sent'>): Member => ({
    ...member,
    sent: `${prefix}${name}`,
  });
  return {
    allowed_managed_keys: at('allowed_managed_keys', { refused: ['device'] }),
    allowed_response_headers: at('allowed_response_headers', { given: ['X-One', 'X-Two'] }),
    audit_non_hmac_request_keys: at('audit_non_hmac_request_keys', { given: ['one', 'two'] }),
    audit_non_hmac_response_keys: at('audit_non_hmac_response_keys', { given: ['one', 'two'] }),
    default_lease_ttl_seconds: at('default_lease_ttl', { given: '600s', as: 600 }),
    delegated_auth_accessors: at('delegated_auth_accessors', { refused: ['auth_userpass_1'] }),
    force_no_cache: at('force_no_cache', { given: true }),
    identity_token_key: at('identity_token_key', { refused: 'own' }),
    listing_visibility: at('listing_visibility', { given: 'unauth' }),
    max_lease_ttl_seconds: at('max_lease_ttl', { given: '3600s', as: 3600 }),
    passthrough_request_headers: at('passthrough_request_headers', { given: ['X-One', 'X-Two'] }),
    plugin_version: at('plugin_version', { refused: 'v1.0.0' }),
  };
};

/** The block `tune` of login methods. */
export const tune: Readonly<Record<string, Member>> = Object.fromEntries([
  ...Object.entries(tuning(''))
    .filter(([name]) => /^(?:a(?:llowed_resp|udit)|listing|passthrough|default|max)/.test(name))
    .map(([name, member]) => [`tune.${name.replace(/_seconds$/, '')}`, member]),
  ['tune.token_type', { given: 'batch', sent: 'token_type' }],
]);

/** What every login method lets a role say of its tokens. */
export const TOKENS: Readonly<Record<string, Member>> = {
  alias_metadata: { given: { team: 'web' } },
  token_bound_cidrs: { given: ['10.0.0.0/8', '192.0.2.1/32'], as: ['10.0.0.0/8', '192.0.2.1'] },
  token_explicit_max_ttl: { given: 7200 },
  token_max_ttl: { given: 3600 },
  token_no_default_policy: { given: true },
  token_num_uses: { given: 5 },
  token_period: { given: 600 },
  token_policies: { given: ['one', 'two'] },
  token_ttl: { given: 60 },
  token_type: { given: 'batch' },
};
