"""Logs in by hvac with a token that an issuer signed: login.py PUBLIC_KEY TOKEN."""

import sys

import hvac

public_key, token = sys.argv[1:]

for method in ["jwt", "kubernetes"]:
    owner = hvac.Client()
    owner.sys.enable_auth_method(method, path=f"hvac-{method}")
    owner.auth.jwt.configure(jwt_validation_pubkeys=[public_key], path=f"hvac-{method}")
    owner.auth.jwt.create_role(
        name="job",
        role_type="jwt",
        user_claim="sub",
        bound_audiences=["hvac"],
        bound_claims={"sub": "me"},
        allowed_redirect_uris=[],
        token_policies=["app"],
        path=f"hvac-{method}",
    )
    job = hvac.Client(token="")
    if method == "jwt":
        answer = job.auth.jwt.jwt_login("job", token, path="hvac-jwt")
        job.token = answer["auth"]["client_token"]
    else:
        job.auth.kubernetes.login("job", token, mount_point="hvac-kubernetes")
    own = job.auth.token.lookup_self()["data"]
    assert own["meta"] == {"role": "job"}, own
    assert own["policies"] == ["app", "default"], own
    assert own["display_name"] == f"hvac-{method}-me", own
    try:
        hvac.Client(token="").auth.jwt.jwt_login("job", token + "x", path=f"hvac-{method}")
    except hvac.exceptions.InvalidRequest as refusal:
        assert "error verifying token signature" in str(refusal), refusal
    else:
        raise AssertionError("a token with another signature logs in")
