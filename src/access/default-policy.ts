/**
 * The text of the policy `default` until someone writes another: what a token may do with itself. Tokens get the
 * policy unless they are created without it.
 */
export const DEFAULT_POLICY = `# What every token may do with itself.

path "auth/token/lookup-self" {
  capabilities = ["read", "update"]
}

path "auth/token/renew-self" {
  capabilities = ["update"]
}

path "auth/token/revoke-self" {
  capabilities = ["update"]
}

# Asking what one may do.
path "sys/capabilities-self" {
  capabilities = ["update"]
}
`;
