"""Logs in with a name and a password. Address and token come from the environment."""

import hvac

owner = hvac.Client()
owner.sys.enable_auth_method("userpass")
owner.auth.userpass.create_or_update_user("ann", password="right", policies=["app"], token_ttl="20m")
assert owner.auth.userpass.list_user()["data"]["keys"] == ["ann"]
user = owner.auth.userpass.read_user("ann")["data"]
assert user["token_policies"] == user["policies"] == ["app"], user
client = hvac.Client(token="")
auth = client.auth.userpass.login("ann", "right")["auth"]
assert auth["token_policies"] == ["app", "default"], auth
assert auth["lease_duration"] == 1200, auth
assert client.is_authenticated()
owner.auth.userpass.update_password_on_user("ann", "other")
try:
    client.auth.userpass.login("ann", "right")
except hvac.exceptions.InvalidRequest as error:
    assert "invalid username or password" in str(error), error
else:
    raise AssertionError("the old password is let in")
owner.auth.userpass.delete_user("ann")
owner.sys.disable_auth_method("userpass")
