/**
 * Has this process trust the certificate authorities that Node comes with, and nobody else unless a caller says so. In the single
 * executable only, where NODE_EXTRA_CA_CERTS and NODE_USE_SYSTEM_CA are none of Node's business; under a Node of the user's own they
 * mean what its documentation says. For who connects with TLS; `rejectUnauthorized: true` belongs to it, else
 * NODE_TLS_REJECT_UNAUTHORIZED decides.
 * @see docs/decisions/0114
 */
export function keepOwnAuthorities(): void {
  if (!process.getBuiltinModule('node:sea').isSea()) return;
  const { rootCertificates, setDefaultCACertificates } = process.getBuiltinModule('node:tls');
  setDefaultCACertificates(rootCertificates);
}
