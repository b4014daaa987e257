import { OF_KEYS, type Rewording } from './key-wordings.ts';

/** How a token gets the sudo capability for creating such tokens. */
const SUDO_TO_CREATE =
  'a policy gives it with "sudo" among the capabilities of the path auth/token/create, or auth/token/create/ROLE';

/** Texts about tokens, logins and their roles. Names of parameters are printed as options later. */
const OF_LOGINS: readonly Rewording[] = [
  [
    /^'policy' parameter not supplied or empty/,
    'the policy is empty',
    'give a FILE with its text, or pipe it in; see "coffer help policy-format"',
  ],
  [/^auth methods cannot create root tokens/, 'a login method cannot give the policy root'],
  [/^bad token/, 'unknown token'],
  [
    /^invalid key size for HMAC key, must be between 32 and 512 bytes/,
    'an HMAC key needs a valid size',
    'use 32 to 512 bytes',
  ],
  [/^invalid parameter set {2}for key type (\S+)/, 'the key type $1 needs a parameter set'],
  [
    /^batch tokens cannot be root tokens/,
    'a batch token cannot have the policy root',
    'use --policy NAME; without it, the new token gets the policies of the token that creates it',
  ],
  [
    /^child policies must be subset of parent/,
    'a token can only get policies that the token creating it has',
  ],
  [
    /^client identity during renewal not matching client identity used during login/,
    'the token was issued for another client certificate: connect with that certificate to renew the token',
  ],
  [
    /^expiring root tokens cannot create non-expiring root tokens/,
    'a root token that expires cannot create a root token without expiry',
  ],
  [/^error parsing address "(.*)": Unable to convert .*/, 'invalid address "$1"'],
  [/^error registering path suffix: "\.\." is not allowed/, 'path_suffix must not contain ".."'],
  [/^failed to find accessor entry for secret_id_accessor: /, 'no secret ID with the accessor '],
  [
    /^failed to parse metadata: failed to parse the input: invalid <key,value> format/,
    'invalid metadata',
    'use KEY=VALUE',
  ],
  [
    /^failed to renew entry: policies have changed, not renewing/,
    'cannot renew the token: the policies of its user or role have changed; log in again',
  ],
  [
    /^failed to renew entry: role (".*") does not exist during renewal/,
    'cannot renew the token: the user or role $1 that it was issued for no longer exists',
  ],
  [
    /^ttl cannot be longer than the role's secret_id_ttl/,
    '$&',
    '0 means no expiry; the limit is the role\'s --secret-id-ttl: "coffer auth approle read ROLE" shows it',
  ],
  [
    /^num_uses cannot be higher than the role's secret_id_num_uses/,
    '$&',
    '0 means any number of uses; the limit is the role\'s --secret-id-num-uses: "coffer auth approle read ROLE" shows it',
  ],
  [/^failed to store secret_id: SecretID is already registered/, 'this secret ID already exists'],
  [/^failed to validate CIDR blocks: invalid CIDR address: /, 'invalid address range '],
  [
    /^failed to verify subset relationship between CIDR blocks on the role (\[[^\]]*\]) and CIDR blocks on the secret ID (\[[^\]]*\])/,
    'the address ranges of the secret ID, $2, must be within those of the role, $1',
  ],
  [
    /^given role path suffix contains invalid characters; must match .*/,
    'invalid path_suffix',
    'use at least 3 letters, digits, "_", "-" or "."; the first and the last cannot be "-" or "."',
  ],
  [
    /^token policies (\([^)]*\)) must be subset of the role's allowed policies (\([^)]*\))/,
    'the role does not allow the policies $1, only $2',
  ],
  [/^lease is not renewable/, 'the token cannot be renewed'],
  [/^missing name in alias/, 'the certificate or token used to log in names no user'],
  [
    /^no chain matching all constraints could be found for this login certificate/,
    'the client certificate does not meet the requirements of the role or, without a role name, of any role',
  ],
  [
    /^nonCA certificates should have TLS client authentication set as an extended key usage/,
    'a certificate that is not of a CA must allow TLS client authentication (extended key usage)',
  ],
  [/^parent token lookup failed: no parent found/, 'the token that was used no longer exists'],
  [/^past the max TTL, cannot renew/, 'the token has reached its maximum lifetime and cannot be renewed'],
  [
    /^restricted use token cannot generate child tokens/,
    'a token with a limited number of uses cannot create other tokens',
  ],
  [
    /^root or sudo privileges required to create (?=orphan token)/,
    'a root token or the sudo capability is required to create an ',
    SUDO_TO_CREATE,
  ],
  [
    /^root or sudo privileges required to create (?=periodic token)/,
    'a root token or the sudo capability is required to create a ',
    SUDO_TO_CREATE,
  ],
  [/^root or sudo privileges required to (.*)/, 'a root token or the sudo capability is required to $1'],
  [
    /^root tokens may not be created without parent token being root/,
    'only a root token can create root tokens',
  ],
  [
    /^source address "(.*)" unauthorized by CIDR restrictions on the /,
    'logins from the address $1 are not allowed with this ',
  ],
  [
    /^'token_type' cannot be 'batch'(?: or 'default_batch')? when (?:role is )?set to generate (.*)/,
    'token_type cannot be batch for $1',
  ],
  [
    /^at least one constraint should be enabled on the role/,
    'the role ID alone would be enough to log in',
    'use --bind-secret-id or --secret-id-bound-cidrs',
  ],
  [
    /^bind_secret_id is not set on the role/,
    'the role does not use secret IDs',
    'run "coffer auth approle write ROLE --bind-secret-id" first',
  ],
];

/** Texts about JSON Web Tokens and the claims in them. */
const OF_CLAIMS: readonly Rewording[] = [
  [/^a user claim must be defined on the role/, 'missing user_claim, the claim that names the user'],
  [
    /^audience claim found in JWT but no audiences bound to the role/,
    'the token names an audience (aud), but the role allows none',
    'an administrator allows the audience with "coffer auth jwt write ROLE --bound-audiences AUDIENCE"',
  ],
  [
    /^claim is not a string(?: or list)?: /,
    'the values in bound_claims must be texts or lists of texts, not ',
  ],
  [/^claim "(.*)" could not be converted to string$/, 'claim "$1" of the token is not text'],
  [/^"(.*)" claim could not be converted to string list/, 'claim "$1" of the token is not a list of texts'],
  [
    /^could not load configuration/,
    'this login method is not configured yet',
    'an administrator runs "coffer auth jwt configure"',
  ],
  [/^error converting claim '(.*)' to string/, 'claim "$1" of the token is not text'],
  [
    /^error validating claims: claim "(.*)" does not match any associated bound claim values/,
    'claim "$1" of the token has none of the values that the role allows',
  ],
  [
    /^error validating claims: claim "(.*)" is missing/,
    'the token has no claim "$1", which the role requires',
  ],
  [
    /^error validating claims: received claim is not a string, bool, int or list: /,
    'a claim of the token must be text, a number, true, false or a list, not ',
  ],
  [
    /^error validating claims: bound claim is not a string, bool, int or list: /,
    'the values in bound_claims must be texts, numbers, true, false or lists, not ',
  ],
  [
    /^failed to fetch groups: "(.*)" claim not found in token/,
    'the token has no claim "$1", which the role reads groups from',
  ],
  [
    /^failed to template policy \[(\d+)\]: the claim is not a string/,
    'the name of policy [$1] of the role contains a claim that the token lacks, or that is not text',
  ],
  [
    /^(?:oidc: malformed jwt: )?failed to unmarshal key ID/,
    'the token cannot be read: its key ID (kid) is not text',
    'get a new token from its issuer',
  ],
  [/^failed to verify id token signature/, 'no key of the issuer verifies the signature of the token'],
  [
    /^exactly one of 'jwt_validation_pubkeys', .* must be set/,
    'exactly one source of keys must be set',
    'use oidc_discovery_url, jwks_url or jwt_validation_pubkeys',
  ],
  [
    /^fetching keys oidc: get keys failed/,
    'the server cannot fetch the keys of the issuer of the token',
    'an administrator sees the reason with "coffer auth jwt config"',
  ],
  [
    /^invalid audience \(aud\) claim: audience claim does not match any expected audience/,
    'the token is for another audience (aud) than the role allows',
  ],
  [
    /json: cannot unmarshal \S+ into Go struct field Claims\.(\S+) of type string/,
    'claim "$1" of the token is not text',
  ],
  [
    /^metadata key "role" is reserved and may not be a mapping destination/,
    'claim_mappings must not set "role", which is reserved',
  ],
  [/^multiple keys are mapped to metadata key /, 'claim_mappings sets several claims as '],
  [
    /^must have at least one bound constraint when creating\/updating a role/,
    'the role would accept every token of the issuer',
    'use --bound-audiences, --bound-subject or --bound-claims',
  ],
  [
    /^no known key successfully validated the token signature/,
    'none of the configured keys verifies the signature of the token',
  ],
  [
    /^'period' of '"([^"]*)"' is greater than the backend's maximum lease TTL of '"([^"]*)"'/,
    'the period of $1 is longer than $2, the maximum TTL of this login method',
  ],
  [
    /^role with oidc role_type is not allowed/,
    'the role is for logins in a browser, which are not supported',
    'an administrator writes the role again with "coffer auth jwt write ROLE"',
  ],
  [/expected number value to unmarshal NumericDate/, 'a time in the token is not a number'],
  [
    /expected string or array value to unmarshal to Audience/,
    'claim "aud" of the token must be text or a list of texts',
  ],
];

/** Texts about mounts, policies and the server. */
const OF_SYSTEM: readonly Rewording[] = [
  [
    /^tuning of user lockout configuration for auth type "(.*)" not allowed/,
    'the login method $1 does not lock out users',
    'only approle, ldap and userpass have these settings',
  ],
  [
    /^cannot (?:enable|disable) audit device via API; .*/,
    'audit logs can only be enabled or disabled when the server is started',
  ],
  [/^cannot fetch sysview for path "auth\/(.*?)\/?"/, 'no login method at "$1/"'],
  [/^tune of path "auth\/(.*?)\/?" failed: no mount entry found/, 'no login method at "$1/"'],
  [/^No auth engine at (.*?)\/?$/, 'no login method at "$1/"'],
  [/^cannot remount /, 'cannot move the mount '],
  [/^no matching mount at "(.*?)\/?"/, 'no mount "$1"'],
  [
    /^preflight capability check returned 403, please ensure client's policies grant access to path "(.*?)\/?"/,
    'no mount "$1", or the policies of the token do not allow anything in it',
    'run "coffer mounts list" to list the mounts',
  ],
  [
    /^given default lease TTL greater than given max lease TTL/,
    'the default TTL is longer than the maximum TTL',
  ],
  [
    /^given default lease TTL greater than system max lease TTL of (.*)/,
    'the default TTL is longer than $1, the maximum of the server',
  ],
  [
    /^backend max lease TTL of (.*) would be less than backend default lease TTL of (.*)/,
    'the maximum TTL of $1 would be shorter than the default TTL of $2',
  ],
  [/^error converting input for field ".*": '' expected type .*/, 'must be a JSON object'],
  [/^Field validation failed: error converting input for field ".*": expected /, 'must be '],
  [
    /^error validating wrapping token: (?:empty token in request body|token is empty)/,
    'missing wrapping token',
    'pass it as an argument, or on standard input',
  ],
  [/^(failed to parse policy: (?:path "[^"]*": )?)invalid key (?="[^"]*" on line )/, '$1unknown word '],
  [/: comment not terminated$/, ': a comment that begins with /* does not end: put paths in quotes'],
  [
    /^'key' must be specified in request body as JSON, or 'reset' set to true/,
    'missing unseal key, or --reset',
  ],
  [
    /^quota rule with similar properties exists under the name /,
    'the same requests are already limited by the rate limit ',
  ],
  [/^invalid 'token_type' value /, '$&', 'use one of service, batch, default-service, default-batch'],
  [/^invalid secret id accessor/, 'the role has no secret ID with this accessor'],
  [/^'rate' is invalid/, 'rate must be a number above 0'],
];

/** Text about the path of a policy. */
export const OF_WILDCARDS: Rewording = [
  /invalid use of wildcards \('\+\*' is forbidden\)/,
  '"+*" is not a wildcard: use + for one whole part of a path, and * only at the end',
];

/** Texts about values that several operations take. */
const OF_VALUES: readonly Rewording[] = [
  [/^agent cannot be the ([\w-]+): /, '$1 cannot be agent: '],
  [/^(unsupported encoding format .*); must be "hex" or "base64"$/, '$1', 'use hex or base64'],
  [/^(backup has the key type \S+), which contradicts its /, '$1, which does not fit its '],
  [/^cannot provide negative value '(.*)'$/, '$1 is negative', 'use 0 or more'],
  OF_WILDCARDS,
];

export const API_WORDINGS: readonly Rewording[] = [
  ...OF_LOGINS,
  ...OF_CLAIMS,
  ...OF_SYSTEM,
  ...OF_KEYS,
  ...OF_VALUES,
];

/** Hints that name parameters by words that are no names of options. */
export const HINT_WORDINGS: readonly Rewording[] = [
  [/\bmin_(de|en)cryption_version of this key is/, '--min-$1cryption-version of this key is'],
  [/^set derived as well$/, 'use --derived'],
  [/\bset the type of this one, such as /, 'use --type with the type of this one, such as '],
  [/\b(?:use|set) force \(--force\)/, 'use --force'],
  [/^set a context(?=$|;)/, 'use --context BASE64 or --context-text TEXT'],
  [/^omit derived, or /, 'omit --derived, or '],
  [/^use (\d+) to \d+ bytes$/, '$&, e.g. --key-size $1'],
  [/; over HTTP, the parameter organization$/, ''],
];
