"""Logs in as programs with a certificate do, and has the token renewed. Parameters: address, token, certificate of the server."""

import sys

import hvac

address, token, server_certificate = sys.argv[1:]
owner = hvac.Client(url=address, token=token, verify=server_certificate)
owner.sys.enable_auth_method("cert")
owner.auth.cert.create_ca_certificate_role(
    name="web", certificate_file="ca.pem", allowed_common_names="web", token_policies="app"
)
assert owner.auth.cert.list_certificate_roles()["data"]["keys"] == ["web"]
assert owner.auth.cert.read_ca_certificate_role("web")["data"]["allowed_common_names"] == ["web"]

client = hvac.Client(url=address, verify=server_certificate, cert=("web.pem", "web.key"))
auth = client.auth.cert.login(name="web", cert_pem="web.pem", key_pem="web.key")["auth"]
assert auth["token_policies"] == ["app", "default"], auth
assert auth["metadata"]["common_name"] == "web", auth
assert client.is_authenticated()
client.auth.token.renew_self()

thief = hvac.Client(url=address, verify=server_certificate, token=client.token)
try:
    thief.auth.token.renew_self()
except hvac.exceptions.InvalidRequest as error:
    assert "no client certificate found" in str(error), error
else:
    raise AssertionError("renewed without the certificate")

owner.auth.cert.configure_tls_certificate(disable_binding=True)
thief.auth.token.renew_self()
owner.auth.cert.delete_certificate_role("web")
