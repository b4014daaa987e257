/**
 * Makes this process trust the certificate authorities bundled with Node, and only those unless a caller adds others.
 * Only in the single executable, where NODE_EXTRA_CA_CERTS and NODE_USE_SYSTEM_CA must have no effect; with the user's
 * own Node they work as documented. For TLS clients; they must also set `rejectUnauthorized: true`, otherwise
 * NODE_TLS_REJECT_UNAUTHORIZED decides.
 * @see docs/decisions/0114
 */
export function keepOwnAuthorities(): void {
  if (!process.getBuiltinModule('node:sea').isSea()) return;
  const { rootCertificates, setDefaultCACertificates } = process.getBuiltinModule('node:tls');
  setDefaultCACertificates(rootCertificates);
}
