/*
 * Where the two are different on purpose: the request, and why. docs/compatibility.md says it to users. One that is no longer different fails.
 */

const OLDER = 'OpenBao 2.4.0 is older than what is followed here (2.6)';
const DURATION = 'a time that cannot be read is told with its field, and with what is wanted';
const LIST = 'a list of revoked certificates that cannot be read is told without words of Go';
const NO_ROLE = 'a missing thing is 404 where one looks for it, and a mistake where one would change it';

export const DELIBERATE: ReadonlyMap<string, string> = new Map([
  ['POST sys/auth/t {"type":"userpass","config":{"default_lease_ttl":"x"}}', DURATION],
  ['POST sys/auth/token/tune {"token_type":"service"}', 'the token method has no settings at all'],
  [
    'POST auth/token/create {"policies":"app,other"}',
    'a text of several policies is several, as everywhere else',
  ],
  [
    'POST auth/token/create {"policies":["app"],"id":"custom-one"}',
    'no token is hashed with SHA-1, so nobody is warned of it',
  ],
  ['POST auth/token/create {"ttl":-1}', DURATION],
  ['POST auth/token/create {"ttl":"x"}', DURATION],
  ['POST auth/token/lookup {}', 'a token without an end was not issued for a time'],
  [
    'POST auth/token/renew-accessor {"accessor":"{first}"}',
    'a renewal that says no time grants that of the creation, whatever was granted since',
  ],
  ['POST auth/token/revoke {"token":"x"}', 'whoever ends a token that is none is told so'],
  ['POST auth/token/roles/ci {"token_bound_cidrs":"foo"}', OLDER],
  [
    'GET auth/token/lookup-self',
    'the longest time of a token role holds for the token, whatever becomes of the role',
  ],
  ['POST auth/approle/role/app {"token_ttl":-1}', DURATION],
  ['POST auth/approle/role/app {"token_max_ttl":"1000h"}', 'what is cut at login is told at login'],
  ['POST auth/approle/role/third/role-id {"role_id":"x"}', NO_ROLE],
  ['POST auth/approle/role/nosuch/secret-id {}', NO_ROLE],
  ['GET auth/approle/login', 'a login is no GET'],
  ['POST auth/userpass/users/ada {}', OLDER],
  ['POST auth/userpass/users/ada {"password":"x","password_hash":"y"}', OLDER],
  ['POST auth/userpass/users/ada {"password_hash":"y"}', 'passwords are hashed here'],
  ['POST auth/userpass/users/ada/password {}', OLDER],
  [
    'POST auth/token/renew-self {}',
    'a renewal that is refused is never answered with nothing, and quotes the role',
  ],
  ['POST sys/wrapping/unwrap {"token":"{mount}"}', 'what was wrapped is the whole answer'],
  ['POST auth/jwt/config {}', OLDER],
  ['POST auth/jwt/config {"jwt_validation_pubkeys":["{pem}"],"jwks_url":"http://127.0.0.1:1"}', OLDER],
  [
    'POST auth/jwt/config {"oidc_discovery_url":"https://127.0.0.1:1/.well-known/openid-configuration"}',
    OLDER,
  ],
  ['GET auth/jwt/config', 'keys are kept as they were given, so that Terraform sees no change'],
  ['GET auth/jwt/role/main', OLDER],
  [
    'POST auth/cert/config {"disable_binding":"x"}',
    'a value that cannot be read is told without words of Go',
  ],
  ['POST auth/cert/login {}', OLDER],
  ['POST auth/cert/login {} with web', OLDER],
  ['POST auth/cert/login {"name":"nosuch"} with web', OLDER],
  ['POST auth/cert/login {"name":"web"} with self_made', OLDER],
  ['POST auth/cert/login {"name":"web"} with namesake', OLDER],
  ['POST auth/cert/login {"name":"web"} with below', OLDER],
  ['POST auth/cert/login {"name":"pinned"} with twin', OLDER],
  [
    'POST auth/cert/certs/web {"certificate":"{ca}","required_extensions":"1.2.3.4"}',
    'no login is possible with an extension without a value',
  ],
  ['POST auth/cert/certs/web {"certificate":"{ca}","ocsp_enabled":true}', 'nobody is asked by OCSP'],
  [
    'POST auth/token/renew-self {} with twin',
    'identifiers are chosen by whoever makes a certificate, so the key counts',
  ],
  ['POST auth/cert/crls/mine {"crl":"nonsense"}', LIST],
  ['POST auth/cert/crls/mine {"crl":"{ca}"}', LIST],
  ['POST auth/cert/crls/mine {"url":"file:///etc/passwd"}', 'what is no address of the web is one mistake'],
  [
    'POST auth/token/renew-self {"increment":30} with web',
    'a renewal that is refused quotes the role that is not there',
  ],
]);
