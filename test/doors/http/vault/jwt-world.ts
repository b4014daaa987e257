import { beforeAll } from 'vitest';
import { cleanUpAfterAll, type Reply } from '../../../servers/serving.ts';
import { type Claims, nowSeconds, signingKey, signToken } from '../../../servers/signing-key.ts';
import { type LoginServer, loginServer } from './logins.ts';

/** A server with a mount of `jwt` that was given its keys, for the tests of a file; and tokens for it. */

export const ISSUER = 'https://issuer.example';
export const AUDIENCE = 'https://vault.example.com';
export const keys = {
  RS256: signingKey('RS256'),
  ES256: signingKey('ES256'),
  EdDSA: signingKey('EdDSA'),
} as const;

export interface JwtWorld extends LoginServer {
  /** Gives a mount its keys; what is given wins. */
  configure(path: string, body?: object): Promise<Reply>;
  /** Makes a role of the usual kind at `auth/jwt`; what is given wins. */
  role(name: string, body?: object): Promise<Reply>;
  login(role: string, jwt: string, mount?: string): Promise<Reply>;
  /** The one text of a refusal with 400; else status and answer. */
  refusalOf(role: string, jwt: string, mount?: string): Promise<unknown>;
}

/** To be called where `beforeAll` could be; it is there when the tests run. */
export function jwtWorld(): { readonly world: JwtWorld } {
  const afterwards = cleanUpAfterAll();
  const made = {} as { world: JwtWorld };
  beforeAll(async () => {
    made.world = around(await loginServer(afterwards));
    await made.world.enable('jwt', 'jwt');
    await made.world.configure('jwt');
  });
  return made;
}

function around(server: LoginServer): JwtWorld {
  const login = (role: string, jwt: string, mount = 'jwt') =>
    server.anybody('POST', `auth/${mount}/login`, { body: { role, jwt } });
  return {
    ...server,
    configure: (path, body = {}) =>
      server.root('POST', `auth/${path}/config`, {
        jwt_validation_pubkeys: Object.values(keys).map(({ publicPem }) => publicPem),
        bound_issuer: ISSUER,
        ...body,
      }),
    role: (name, body = {}) =>
      server.root('POST', `auth/jwt/role/${name}`, {
        role_type: 'jwt',
        user_claim: 'sub',
        bound_audiences: AUDIENCE,
        ...body,
      }),
    login,
    async refusalOf(role, jwt, mount) {
      const { status, json } = await login(role, jwt, mount);
      return status === 400 && json.errors.length === 1 ? json.errors[0] : { status, json };
    },
  };
}

export const claimsNow = (claims: Claims = {}): Claims => {
  const now = nowSeconds();
  return { iss: ISSUER, sub: 'me', aud: AUDIENCE, iat: now, nbf: now, exp: now + 300, ...claims };
};

export const tokenOf = (claims: Claims = {}, key = keys.RS256): Promise<string> =>
  signToken(key, claimsNow(claims));

/** What the family's refusals begin with. */
export const T = 'error validating token: ';
export const SIGNATURE = `${T}error verifying token signature: `;
export const UNKNOWN_KEY = `${SIGNATURE}no known key successfully validated the token signature`;
